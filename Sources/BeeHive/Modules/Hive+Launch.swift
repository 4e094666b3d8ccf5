internal import LibC
internal import Registration
internal import Threads

/// The modules that are declared, sorted by what can become of them.
struct DeclaredModules {
  /// Those that something makes and that were not switched off.
  var ready: [RegisteredEntry] = []
  /// The names of those that were switched off.
  var disabled: [String] = []
  /// Those that nothing makes, or that were rejected.
  var unbound: [Entry] = []
  /// Why no module of a name can start.
  var unavailable: [String: String] = [:]
}

/// Modules that are about to be launched together.
struct LaunchBatch {
  var order: LaunchOrder
  var entries: [String: RegisteredEntry]
  /// The others among them.
  var declared: DeclaredModules
}

extension Hive {
  /// What is bound and has not been tried, in order; what is in the way of the rest.
  func launchBatch(after states: ModuleStates) -> LaunchBatch {
    bindUnbound()
    let declared = declaredModules()
    var unavailable = declared.unavailable
    for name in states.failedNames { unavailable[name] = "failed to start" }
    let entries = declared.ready.filter { states[$0.order] == nil }
    var order = LaunchOrder(
      entries.map { LaunchOrder.Node($0) },
      started: (states.running + states.overdue).map(\.node), unavailable: unavailable)
    if !order.missing.isEmpty { order.look(for: moduleNames) }
    return LaunchBatch(
      order: order,
      entries: Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
      declared: declared)
  }

  /// Sorts all modules by what can become of them now.
  func declaredModules() -> DeclaredModules {
    let switchedOff = self.switchedOff
    return state.withLock { state in
      var declared = DeclaredModules()
      for entry in state.table.entries(where: { $0.kind == .module }) {
        let isRejected = if case .rejected = entry.progress { true } else { false }
        if switchedOff.contains(entry.name), !isRejected {
          declared.disabled.append(entry.name)
          declared.unavailable[entry.name] = "is switched off"
        } else if entry.provider != nil {
          declared.ready.append(entry)
        } else {
          declared.unbound.append(entry.snapshot)
          // A duplicate is not why no module of its name can start.
          let reason = "is declared, but nothing can make it: \(entry.source)"
          declared.unavailable[entry.name] = declared.unavailable[entry.name] ?? reason
        }
      }
      return declared
    }
  }

  /// The names of modules that do not start: those that the start was told of, and the ones in the
  /// environment variable `BEEHIVE_DISABLE`, separated by commas.
  var switchedOff: Set<String> {
    let disabled = state.withLock { $0.disabled }
    guard let value = unsafe getenv("BEEHIVE_DISABLE") else { return disabled }
    return unsafe disabled.union(Self.names(listedIn: String(cString: value)))
  }

  static func names(listedIn text: String) -> Set<String> {
    Set(text.split { $0 == "," || $0 == " " }.map(String.init))
  }

  /// Whether an entry is still part of the Hive.
  func isRegistered(_ entry: RegisteredEntry) -> Bool { state.withLock { _ in !entry.isWithdrawn } }

  /// Makes the module of an entry. No lock is held: this is the module's own code.
  func makeModule(
    _ entry: RegisteredEntry, _ node: LaunchOrder.Node
  ) throws(ModuleFailure) -> RunningModule {
    func failure(_ reason: String) -> ModuleFailure { node.failure("make", .notMade(reason)) }
    guard let provider = state.withLock({ _ in entry.provider }) else {
      throw failure("nothing makes it")
    }
    let isMarked = entry.attributes.isAsync
    let made: (any Sendable)?
    switch provider {
    case .structure(_, let address):
      switch ForeignCall.moduleTable(at: address, in: entry.memory) {
      case .success(let table):
        return RunningModule(
          node: node, entry: entry, code: .c(COperations(table: table)), isConcurrent: isMarked)
      case .failure(let problem): throw failure(problem.message)
      }
    case .module(let type): made = type.init()
    case .accessor(let accessor):
      made = ForeignCall.make(accessor, as: (any Module).self)
      if made == nil { throw failure("its accessor makes another type") }
    case .closure(let factory):
      do { made = try factory.make(self, nil) } catch {
        throw error as? ModuleFailure ?? failure("\(error)")
      }
    case .injectable: throw failure("it is bound to a service")
    }
    guard let module = made as? any Module else {
      throw failure("what it is bound to does not conform to Module")
    }
    return RunningModule(
      node: node, entry: entry, code: .swift(module),
      isConcurrent: isMarked || type(of: module).initializesConcurrently)
  }
}

extension LaunchOrder.Node {
  /// What went wrong with the module in an event or a step.
  func failure(_ event: String, _ reason: ModuleFailure.Reason) -> ModuleFailure {
    ModuleFailure(module: name, event: event, reason: reason, source: source)
  }
}
