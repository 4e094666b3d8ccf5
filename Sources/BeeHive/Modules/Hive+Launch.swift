internal import Registration

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Modules that are about to be launched together.
struct LaunchBatch {
  var order: LaunchOrder
  var entries: [String: RegisteredEntry]
  var disabled: [String]
  var unbound: [Entry]
}

extension Hive {
  /// Whatever is bound and has not been tried, in order; what is in the way of the rest.
  func launchBatch(
    without tried: Set<UInt64>, started: Set<String>, fallen: Set<String>, disabled: Set<String>
  ) -> LaunchBatch {
    catchUp(probing: true)
    bindUnbound()
    let switchedOff = Self.switchedOff.union(disabled)
    var batch = LaunchBatch(order: LaunchOrder([]), entries: [:], disabled: [], unbound: [])
    var nodes: [LaunchOrder.Node] = []
    var unavailable: [String: String] = [:]
    for name in fallen { unavailable[name] = "failed to start" }
    let (bound, others) = state.withLock { state in
      let modules = state.table.all.filter { $0.kind == .module }
      return (
        modules.filter { $0.provider != nil },
        modules.filter { $0.provider == nil }.map(\.snapshot)
      )
    }
    batch.unbound = others
    for entry in others where unavailable[entry.name] == nil {
      unavailable[entry.name] = "is declared, but nothing can make it: \(entry.source)"
    }
    for entry in bound where !tried.contains(entry.order) {
      if switchedOff.contains(entry.name) {
        batch.disabled.append(entry.name)
        unavailable[entry.name] = "is switched off"
        continue
      }
      batch.entries[entry.name] = entry
      nodes.append(LaunchOrder.Node(entry))
    }
    batch.order = LaunchOrder(nodes, started: started, unavailable: unavailable)
    return batch
  }

  /// Whether an entry is still part of the Hive.
  func isRegistered(_ entry: RegisteredEntry) -> Bool { state.withLock { _ in !entry.isWithdrawn } }

  /// The names in `BEEHIVE_DISABLE`, separated by commas: modules that do not start.
  static var switchedOff: Set<String> {
    guard let value = unsafe getenv("BEEHIVE_DISABLE") else { return [] }
    return unsafe names(listedIn: String(cString: value))
  }

  static func names(listedIn text: String) -> Set<String> {
    Set(text.split { $0 == "," || $0 == " " }.map(String.init))
  }

  /// The modules that something makes.
  func boundModules() -> [RegisteredEntry] {
    state.withLock { state in
      state.table.all.filter { entry in
        guard entry.kind == .module, case .bound = entry.progress else { return false }
        return true
      }
    }
  }

  /// Makes the module of an entry. No lock is held: this is the module's own code.
  func living(
    _ entry: RegisteredEntry, _ node: LaunchOrder.Node
  ) throws(ModuleFailure) -> LivingModule {
    func failure(_ reason: String) -> ModuleFailure {
      ModuleFailure(
        module: node.name, event: "make", reason: .notMade(reason), source: node.source)
    }
    guard let provider = state.withLock({ _ in entry.provider }) else {
      throw failure("nothing makes it")
    }
    let isMarked = entry.attributes.others.contains { $0.key == "async" && $0.value == "true" }
    switch provider {
    case .structure(_, let address):
      guard hold(entry) else { throw failure("its image is gone") }
      switch ForeignCall.moduleTable(at: address) {
      case .success(let table):
        return LivingModule(
          node: node, entry: entry, code: .c(COperations(table: table)), isConcurrent: isMarked)
      case .failure(let problem): throw failure(problem.message)
      }
    case .module(let type): return swift(type.init(), entry, node, isMarked)
    case .accessor(let accessor):
      guard let module = ForeignCall.make(accessor, as: (any Module).self) else {
        throw failure("its accessor makes another type")
      }
      return swift(module, entry, node, isMarked)
    case .closure(let factory):
      do {
        guard let module = try factory.make(self, nil) as? any Module else {
          throw failure("what it is bound to does not conform to Module")
        }
        return swift(module, entry, node, isMarked)
      } catch let error as ModuleFailure {
        throw error
      } catch {
        throw failure("\(error)")
      }
    case .injectable: throw failure("it is bound to a service")
    }
  }

  private func swift(
    _ module: any Module, _ entry: RegisteredEntry, _ node: LaunchOrder.Node, _ isMarked: Bool
  ) -> LivingModule {
    LivingModule(
      node: node, entry: entry, code: .swift(module),
      isConcurrent: isMarked || type(of: module).initializesConcurrently)
  }
}
