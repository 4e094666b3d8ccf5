/// A module that has been made, in Swift or in C, and what is known of it.
struct RunningModule: Sendable {
  /// The lifecycle's steps, in order.
  enum Step: String, Sendable, CaseIterable {
    case setUp, initialize, splash, tearDown, unmount

    var kind: Event.Kind {
      switch self {
      case .setUp: .setUp
      case .initialize: .initialize
      case .splash: .splash
      case .tearDown: .tearDown
      case .unmount: .unmount
      }
    }

    /// Whether a start goes through it.
    var isOfStart: Bool { self != .tearDown && self != .unmount }

    /// The step after this one; a life that has ended may begin anew.
    var next: Step { Self.allCases.drop { $0 != self }.dropFirst().first ?? .setUp }

    /// The steps that undo a life in which this step would come next.
    var undoing: [Step] {
      switch self {
      case .setUp: []
      case .initialize, .unmount: [.unmount]
      case .splash, .tearDown: [.tearDown, .unmount]
      }
    }
  }

  /// The code of a module.
  enum Code: Sendable {
    case swift(any Module)
    case c(COperations)
  }

  let node: LaunchOrder.Node
  let entry: RegisteredEntry
  let code: Code
  /// Whether `initialize` runs beside that of others.
  let isConcurrent: Bool
  /// What it registers.
  var belongings = Belongings()

  /// Tells this module from one of the same name that came before or comes after it.
  var id: UInt64 { entry.order }

  /// Runs a step of the lifecycle, where it may block.
  func run(_ step: Step, _ context: Context) async throws {
    switch code {
    case .swift(let module):
      switch step {
      case .setUp: try await module.setUp(context)
      case .initialize: try await module.initialize(context)
      case .splash: try await module.splash(context)
      case .tearDown: try await module.tearDown(context)
      case .unmount: try await module.unmount(context)
      }
    case .c(let operations):
      guard operations.run(step, context) else { throw CRefusal() }
    }
  }

  /// Tells the module of an event, where it may block.
  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    switch code {
    case .swift(let module): return try await module.handle(event, context)
    case .c(let operations):
      return operations.handle(event, context) ? .handled : .ignored
    }
  }
}

/// A C operation that answered false.
struct CRefusal: Error {}
