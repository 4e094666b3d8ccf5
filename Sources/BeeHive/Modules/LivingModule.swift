internal import BinaryImage
internal import CBeeHive

/// A module that has been made, in Swift or in C, and what is known of it.
struct LivingModule: Sendable {
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
  }

  /// The code of a module.
  enum Code: Sendable {
    case swift(any Module)
    case c(COperations)
  }

  let node: LaunchOrder.Node
  let code: Code
  /// Whether `initialize` runs beside that of others.
  let isConcurrent: Bool

  /// Runs a step of the lifecycle.
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
      if !operations.run(step, context) { throw CRefusal() }
    }
  }

  /// Tells the module of an event.
  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    switch code {
    case .swift(let module): try await module.handle(event, context)
    case .c(let operations): operations.handle(event, context) ? .handled : .ignored
    }
  }
}

/// A C operation that answered false.
struct CRefusal: Error {}
