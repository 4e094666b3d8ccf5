internal import Threads

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
  let entry: RegisteredEntry
  let code: Code
  /// Whether `initialize` runs beside that of others.
  let isConcurrent: Bool

  /// Tells this module from one of the same name that came before or comes after it.
  var id: UInt64 { entry.order }

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
      let isDone = await Self.blocking { operations.run(step, context) }
      if !isDone { throw CRefusal() }
    }
  }

  /// Tells the module of an event.
  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    switch code {
    case .swift(let module): return try await module.handle(event, context)
    case .c(let operations):
      let isDone = await Self.blocking { operations.handle(event, context) }
      return isDone ? .handled : .ignored
    }
  }

  /// Calls C on a thread of its own, since C may block: for as long as it likes, while a limit is only
  /// noticed by a free thread of the pool; or until the Hive has done what it asked for by
  /// `beehive_trigger` and the like, which runs on the pool.
  private static func blocking(_ call: @escaping @Sendable () -> Bool) async -> Bool {
    let inside = ModuleRunner.inside
    return await withCheckedContinuation { continuation in
      let isRunning = POSIXThread.detach {
        let isDone = ModuleRunner.$inside.withValue(inside) { call() }
        continuation.resume(returning: isDone)
      }
      // Without a thread to spare, here.
      if !isRunning { continuation.resume(returning: call()) }
    }
  }

  /// What went wrong with the module in an event or a step.
  func failure(_ event: String, _ reason: ModuleFailure.Reason) -> ModuleFailure {
    ModuleFailure(module: node.name, event: event, reason: reason, source: node.source)
  }
}

/// A C operation that answered false.
struct CRefusal: Error {}
