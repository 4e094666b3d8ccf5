internal import Registration
internal import Synchronization
internal import Threads

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

  let entry: RegisteredEntry
  let code: Code
  /// Whether `initialize` runs beside that of others.
  let isConcurrent: Bool
  /// What it registers.
  var belongings = Belongings()

  var name: String { entry.name }
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
      guard operations.run(step, context) else { throw entry.failure(step.rawValue, .refused) }
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

extension RunningModule {
  /// Makes the module of an entry. No lock is held: this is the module's own code.
  init(
    _ entry: RegisteredEntry, for hive: Hive
  ) throws(ModuleFailure) {
    func failure(_ reason: String) -> ModuleFailure { entry.failure("make", .notMade(reason)) }
    guard let provider = hive.state.withLock({ _ in entry.provider }) else {
      throw failure("nothing makes it")
    }
    let isMarked = entry.attributes.isAsync
    let made: (any Sendable)?
    switch provider {
    case .structure(_, let address):
      let operations: COperations
      do { operations = try COperations(at: address, in: entry.memory) } catch {
        throw failure(error.message)
      }
      self.init(entry: entry, code: .c(operations), isConcurrent: isMarked)
      return
    case .accessor(let accessor):
      made = accessor.make(as: (any Module).self)
      if made == nil { throw failure("its accessor makes another type") }
    case .closure(let factory):
      do { made = try factory.make(hive, nil) } catch {
        throw error as? ModuleFailure ?? failure("\(error)")
      }
    }
    guard let module = made as? any Module else {
      throw failure("what it is bound to does not conform to Module")
    }
    self.init(
      entry: entry, code: .swift(module),
      isConcurrent: isMarked || type(of: module).initializesConcurrently)
  }
}

/// The things that a module gave to its Hive inside its steps and events: they go when the module has been unmounted, so
/// that the next start finds nothing of them. Entries say themselves whose they are.
///
/// Whatever a module calls, and the tasks that it begins, inherit them.
final class Belongings: Sendable {
  /// The functions that take things back, each by a number of its own, which grows; nil when the module has gone.
  private let undos = Lock<[Int: @Sendable () -> Void]?>([:])
  private let lastUndo = Atomic(0)
  private let isOwner = Atomic(false)

  /// Whether entries are the module's.
  var hasEntries: Bool { isOwner.load(ordering: .acquiring) }

  /// Notes that entries are. Returns false where the module has gone already.
  func noteEntries() -> Bool {
    isOwner.store(true, ordering: .releasing)
    return undos.withLock { $0 != nil }
  }

  /// Has `undo` called when the module goes, or by the handle before; at once where the module has gone already.
  func handle(_ undo: @escaping @Sendable () -> Void) -> Handle {
    let number = lastUndo.wrappingAdd(1, ordering: .relaxed).newValue
    let isTaken = undos.withLock { undos in
      undos?[number] = undo
      return undos != nil
    }
    guard isTaken else {
      undo()
      return Handle {}
    }
    return Handle { [self] in undos.withLock { $0?.removeValue(forKey: number) }?() }
  }

  /// Takes nothing more in. Returns what takes back what there was, in this order.
  func close() -> [@Sendable () -> Void] {
    let undos = undos.withLock { $0.take() } ?? [:]
    return undos.sorted { $0.key > $1.key }.map(\.value)
  }
}

/// The modules that are declared, sorted by what can become of them.
struct LaunchBatch {
  /// The order of those that can start, and the obstacles of the others that something makes.
  private(set) var order = LaunchOrder([])
  /// Those in the order.
  private(set) var modules: [RegisteredEntry] = []
  /// The names of those that were switched off.
  private(set) var disabled: [String] = []
  /// Those that nothing makes, or that were rejected.
  private(set) var unbound: [Entry] = []

  /// Sorts all modules of a Hive as they are now, without those that were tried already.
  init(of hive: Hive, after states: ModuleStates = ModuleStates()) {
    let switchedOff = hive.switchedOff
    var ready: [RegisteredEntry] = []
    // The reasons that no module of a name can start.
    var unavailable: [String: String] = [:]
    hive.state.withLock { state in
      for entry in state.table.entries(where: { $0.kind == .module }) {
        let isRejected = if case .rejected = entry.progress { true } else { false }
        if switchedOff.contains(entry.name), !isRejected {
          disabled.append(entry.name)
          unavailable[entry.name] = "is switched off"
        } else if entry.provider != nil {
          ready.append(entry)
        } else {
          unbound.append(entry.snapshot)
          // A duplicate is not why no module of its name can start.
          let reason = "is declared, but nothing can make it: \(entry.source)"
          unavailable[entry.name] = unavailable[entry.name] ?? reason
        }
      }
    }
    for name in states.failedNames { unavailable[name] = "failed to start" }
    ready.removeAll { states[$0.order] != nil }
    let running = (states.running + states.overdue).map(\.entry)
    let (waiting, started) = hive.state.withLock { _ in
      (ready.map(\.snapshot), running.map(\.snapshot))
    }
    order = LaunchOrder(waiting, started: started, unavailable: unavailable)
    let entries = Dictionary(ready.map { ($0.order, $0) }, uniquingKeysWith: { first, _ in first })
    modules = order.modules.compactMap { entries[$0.number] }
    if !order.missing.isEmpty { order.look(for: hive.moduleNames) }
  }
}

extension RegisteredEntry {
  /// Returns a failure of the module in an event or a step.
  func failure(_ event: String, _ reason: ModuleFailure.Reason) -> ModuleFailure {
    ModuleFailure(module: name, event: event, reason: reason, source: source)
  }
}

extension ModuleFailure {
  /// Whether the operation in C of this very module answered false to the event.
  func isRefusal(of entry: RegisteredEntry, _ event: String) -> Bool {
    guard case .refused = reason else { return false }
    return module == entry.name && source == entry.source && self.event == event
  }
}
