internal import Registration
internal import Threads

extension Hive {
  /// Starts every module in its declared order: setUp of all, initialize of all, splash of all.
  ///
  /// A Hive that runs keeps itself alive until ``stop()``, so that no module vanishes without its tear
  /// down. Modules run on threads of the Hive, with no lock held.
  ///
  /// - Parameters:
  ///   - context: What modules are given: configuration and an application's own values.
  ///   - options: What to do when a module fails, time limits, and which modules are switched off.
  /// - Returns: What was started, and what was in the way of the rest. A Hive that runs already returns the
  ///   report of its start.
  /// - Throws: ``LaunchError``, with everything torn down again: if the options say `stop` and a module
  ///   failed, a requirement is missing or modules wait for each other; if it was stopped or cancelled
  ///   before it was over. And with nothing done: if a module calls it during a start or stop.
  @discardableResult
  public func start(
    _ context: Context? = nil, options: LaunchOptions = LaunchOptions()
  ) async throws(LaunchError) -> LaunchReport {
    var context = context ?? Context(hive: self)
    context.hive = self
    return try await runner.start(context, options)
  }

  /// Tears every module down and unmounts it.
  ///
  /// Each comes after those that require or follow it, else in reverse order. What they registered goes
  /// with them: ``start(_:options:)`` begins anew.
  ///
  /// Takes back all that C libraries handed out. The libraries stay mapped.
  ///
  /// Called during a start, it ends that start. A module that calls it from a step of the start does not
  /// wait for what it asked for.
  ///
  /// - Returns: What went wrong, a failure for each module and step.
  @discardableResult
  public func stop() async -> [ModuleFailure] { await runner.stop(self) }

  /// Starts modules that came since the Hive was started.
  ///
  /// They are modules of images and files, and those that required a module that is there by now. What is
  /// registered by code is started at once and needs no such call. A module that calls it while modules are
  /// being started does not wait: what came is part of that start.
  ///
  /// - Returns: The modules that failed now, then those that came since the start and cannot be ordered:
  ///   what they require is missing, or they wait for each other. Empty if the Hive does not run.
  @discardableResult
  public func startLatecomers() async -> [ModuleFailure] {
    let (failures, order) = await runner.startLatecomers()
    // What the start could not order is in its own report.
    return failures + order.failures(besides: await runner.report.order)
  }

  /// The names of the modules that run, in the order in which they were started.
  public var runningModules: [String] { get async { await runner.names } }

  /// Registers a module by its type; in a Hive that runs, starts it at once.
  ///
  /// During a start it becomes part of that.
  ///
  /// - Parameters:
  ///   - type: The module; the Hive makes one instance.
  ///   - name: What others require it by; nil for the type's qualified name.
  ///   - version: Its version, numbers with dots between them, for those that require some versions only.
  ///   - level: Whether it starts among the basic modules.
  ///   - priority: Larger first within a level.
  ///   - requires: Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
  ///   - after: Modules that start earlier where they are present.
  ///   - file: Where it is registered: errors and reports name the location.
  ///   - line: The line in that file.
  /// - Throws: ``Problem`` if it is refused, as a duplicate is. In a Hive that runs also ``ModuleFailure``
  ///   if it failed to start, and ``LaunchError`` if what it requires is missing or waits for it.
  public func register<M: Module>(
    module type: M.Type, name: String? = nil, version: String? = nil,
    level: ModuleLevel = .normal, priority: Int = 0, requires: [String] = [],
    after: [String] = [], file: String = #fileID, line: UInt = #line
  ) async throws {
    try await registerAndStart(
      RegisteredEntry(
        module: name ?? TypeSpelling.of(type).qualified, version: version, level: level,
        priority: priority, requires: requires, after: after,
        source: .code(file: file, line: line), progress: .bound(.module(type))))
  }

  /// Registers a module that a closure makes, for one that needs more than its type.
  ///
  /// - Parameters:
  ///   - name: What others require it by.
  ///   - version: Its version, numbers with dots between them, for those that require some versions only.
  ///   - level: Whether it starts among the basic modules.
  ///   - priority: Larger first within a level.
  ///   - requires: Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
  ///   - after: Modules that start earlier where they are present.
  ///   - file: Where it is registered: errors and reports name the location.
  ///   - line: The line in that file.
  ///   - make: Makes the module at each start, on a thread of the Hive and with no lock held.
  /// - Throws: ``Problem``, ``ModuleFailure`` or ``LaunchError``, as `register(module:)` of a type.
  public func register(
    module name: String, version: String? = nil, level: ModuleLevel = .normal, priority: Int = 0,
    requires: [String] = [], after: [String] = [], file: String = #fileID, line: UInt = #line,
    _ make: @escaping @Sendable (Hive) throws -> any Module
  ) async throws {
    let factory = FactoryClosure { hive in try make(hive) as any Sendable }
    try await registerAndStart(
      RegisteredEntry(
        module: name, version: version, level: level, priority: priority, requires: requires,
        after: after, source: .code(file: file, line: line), progress: .bound(.closure(factory))))
  }

  /// Takes in a module, and starts it in a Hive that runs.
  private func registerAndStart(_ entry: RegisteredEntry) async throws {
    try register(entry)
    try await startLatecomer(entry)
  }

  /// Starts a module that came after the others, if they run; throws what kept it from starting.
  func startLatecomer(_ entry: RegisteredEntry) async throws {
    let (failures, order) = await runner.startLatecomers()
    if let failure = failures.first(where: { $0.module == entry.name }) { throw failure }
    var own = order
    own.missing.removeAll { $0.module.name != entry.name }
    own.cycles.removeAll { cycle in !cycle.path.contains { $0.name == entry.name } }
    if !own.problems.isEmpty { throw LaunchError(order: own) }
  }

  /// Removes the modules of a name, and what they registered themselves.
  ///
  /// A module that runs is torn down and unmounted first; one that is inside of a step, as soon as that is
  /// over. Modules that require it are left as they are.
  ///
  /// - Parameter name: The module's name, whatever registered or declared it.
  /// - Returns: Whether there was one.
  @discardableResult
  public func unregister(module name: String) async -> Bool {
    let ids = state.withLock { state in Set(state.table.modules(named: name).map(\.order)) }
    // First out of the list, so that a start which is under way does not come back to it.
    withdraw { ids.contains($0.order) }
    await runner.remove(ids)
    return !ids.isEmpty
  }

  /// Removes everything that a library declares, as if it had never been loaded.
  ///
  /// Its modules are torn down and unmounted first, its services end as in ``removeServices(named:)``, and its names are
  /// free. The library stays mapped until the process ends, since others may have pointers into it; a new build of it
  /// is loaded from a file of another name.
  ///
  /// - Parameter path: The path of the library as reports and ``Entry/source`` say it, or as the loader has it.
  /// - Returns: The number of entries removed; 0 if no library of this path has registered.
  @discardableResult
  public func remove(image path: String) async -> Int {
    let removed = withdraw { state in
      let images = state.images.registered(at: path)
      let entries = state.table.withdraw(imagesOf: Set(images))
      if !entries.isEmpty { observers.post(.imageWithdrawn(path: path)) }
      return entries
    }
    await runner.remove(Set(removed.filter { $0.kind == .module }.map(\.order)))
    return removed.count
  }
}

extension LaunchOrder.Node {
  init(_ entry: RegisteredEntry) {
    let attributes = entry.attributes
    self.init(
      name: entry.name, version: attributes.version, isBasic: attributes.moduleLevel == .basic,
      priority: attributes.priority, requires: attributes.requires, after: attributes.after,
      source: entry.source)
  }
}
