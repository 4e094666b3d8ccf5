internal import Registration

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension Hive {
  /// Starts every module in its declared order: setUp of all, initialize of all, splash of all.
  ///
  /// A Hive that runs already answers with the report of its start. Throws, with everything torn down
  /// again, where the order cannot be or a module fails and `options` say so.
  @discardableResult
  public func start(
    _ context: Context? = nil, options: LaunchOptions = LaunchOptions()
  ) async throws(LaunchError) -> LaunchReport {
    var context = context ?? Context(hive: self)
    context.hive = self
    catchUp(probing: true)
    bindUnbound()
    let switchedOff = Self.switchedOff
    var disabled: [String] = []
    var entries: [String: RegisteredEntry] = [:]
    var nodes: [LaunchOrder.Node] = []
    for entry in boundModules() {
      if switchedOff.contains(entry.name) {
        disabled.append(entry.name)
        continue
      }
      entries[entry.name] = entry
      nodes.append(LaunchOrder.Node(entry))
    }
    let order = LaunchOrder(nodes)
    if options.onFailure == .stop, !order.problems.isEmpty {
      throw LaunchError(order: order, failures: [], wasStopped: false)
    }
    var failures: [ModuleFailure] = []
    var modules: [LivingModule] = []
    for node in order.modules {
      guard let entry = entries[node.name] else { continue }
      do throws(ModuleFailure) { modules.append(try living(entry, node)) } catch {
        failures.append(error)
      }
    }
    return try await runner.start(
      modules, order, failures: failures, disabled: disabled, context, options)
  }

  /// Tears every module down and unmounts it, in reverse order; the modules that failed to.
  @discardableResult
  public func stop() async -> [ModuleFailure] { await runner.stop() }

  /// Tells every module that runs of an event, in order; what they made of it.
  @discardableResult
  public func trigger(_ event: Event) async -> EventOutcome { await runner.dispatch(event) }

  /// The names of the modules that run, in the order in which they were started.
  public var runningModules: [String] { get async { await runner.names } }

  /// Registers a module by its type; in a Hive that runs, starts it at once.
  public func register<M: Module>(
    module type: M.Type, name: String? = nil, level: ModuleLevel = .normal, priority: Int = 0,
    requires: [String] = [], after: [String] = [], file: String = #fileID, line: UInt = #line
  ) async throws {
    var attributes = Attributes()
    attributes.level = level == .basic ? level.rawValue : nil
    attributes.priority = priority
    attributes.requires = requires
    attributes.after = after
    let entry = RegisteredEntry(
      order: Self.nextOrder(), kind: .module, name: name ?? TypeSpelling.of(type).qualified,
      implementation: nil, attributes: attributes, source: .code(file: file, line: line),
      image: nil, scope: .singleton, isC: false, progress: .bound(.module(type)))
    try register(entry)
    try await startLatecomer(entry)
  }

  /// Starts a module that came after the others, if they run.
  func startLatecomer(_ entry: RegisteredEntry) async throws {
    guard await runner.isActive else { return }
    let failures = await runner.add(try living(entry, LaunchOrder.Node(entry)))
    if let failure = failures.first { throw failure }
  }

  /// Removes the module of this name, and no other: one that runs is torn down and unmounted first.
  ///
  /// Whether there was one.
  @discardableResult
  public func unregister(module name: String) async -> Bool {
    let hasRun = await runner.remove(name) != nil
    return withdraw { $0.kind == .module && $0.name == name } > 0 || hasRun
  }

  /// The names in `BEEHIVE_DISABLE`, separated by commas: modules that do not start.
  static var switchedOff: Set<String> {
    guard let value = unsafe getenv("BEEHIVE_DISABLE") else { return [] }
    let names = unsafe String(cString: value).split(separator: ",")
    return Set(names.map { String($0.drop { $0 == " " }) })
  }

  func boundModules() -> [RegisteredEntry] {
    state.withLock { state in
      state.table.all.filter { entry in
        guard entry.kind == .module, case .bound = entry.progress else { return false }
        return true
      }
    }
  }

  /// Makes the module of an entry. No lock is held: this is the module's own code.
  private func living(
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
          node: node, code: .c(COperations(table: table)), isConcurrent: isMarked)
      case .failure(let problem): throw failure(problem.message)
      }
    case .module(let type): return swift(type.init(), node, isMarked)
    case .accessor(let accessor):
      guard let module = ForeignCall.make(accessor, as: (any Module).self) else {
        throw failure("its accessor makes another type")
      }
      return swift(module, node, isMarked)
    case .closure(let factory):
      do {
        guard let module = try factory.make(self, nil) as? any Module else {
          throw failure("what it is bound to does not conform to Module")
        }
        return swift(module, node, isMarked)
      } catch let error as ModuleFailure {
        throw error
      } catch {
        throw failure("\(error)")
      }
    case .injectable: throw failure("it is bound to a service")
    }
  }

  private func swift(_ module: any Module, _ node: LaunchOrder.Node, _ isMarked: Bool)
    -> LivingModule
  {
    LivingModule(
      node: node, code: .swift(module),
      isConcurrent: isMarked || type(of: module).initializesConcurrently)
  }
}

/// Which modules start first.
public enum ModuleLevel: String, Hashable, Sendable {
  /// Before the normal ones.
  case basic
  /// After the basic ones.
  case normal
}

extension LaunchOrder.Node {
  init(_ entry: RegisteredEntry) {
    let attributes = entry.attributes
    self.init(
      name: entry.name, isBasic: attributes.level == ModuleLevel.basic.rawValue,
      priority: attributes.priority, requires: attributes.requires, after: attributes.after,
      source: entry.source)
  }
}
