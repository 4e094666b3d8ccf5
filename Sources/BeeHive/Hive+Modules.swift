internal import Threads

// The lifecycle of modules, their events, and their registrations.
extension Hive {
  /// Starts every module in its declared order: setUp of all, initialize of all, splash of all.
  ///
  /// A Hive that runs keeps itself alive until ``stop()``, so that every module is torn down. Modules run on threads of
  /// the Hive, with no lock held.
  ///
  /// - Parameters:
  ///   - context: The context of the modules: configuration and an application's own values.
  ///   - options: The reaction to a module that fails, time limits, and the modules that are switched off.
  /// - Returns: The modules that started, and the reasons that others did not. A Hive that runs already returns the
  ///   report of its start.
  /// - Throws: ``LaunchError``, with everything torn down again: if the options say `stop` and a module failed, a
  ///   requirement is missing or modules wait for each other; or if the start was stopped or cancelled before it was
  ///   over. If a module calls it during a start or stop, it throws and does nothing.
  @discardableResult
  public func start(
    _ context: Context? = nil, options: LaunchOptions = LaunchOptions()
  ) async throws(LaunchError) -> LaunchReport {
    ForkedChild.watch()
    return try await runner.start(context, options, of: self, isRun: false)
  }

  /// Tears every module down and unmounts it.
  ///
  /// Each module goes down after those that require or follow it, else in reverse order. Their registrations go with
  /// them: ``start(_:options:)`` begins anew.
  ///
  /// Then the shared instances end, the latest first: Swift singletons, and objects that C libraries handed out. The
  /// libraries stay mapped.
  ///
  /// A call during a start ends that start. If a module calls it from a step of the start, it returns before the end.
  ///
  /// - Returns: A failure for each module and step that failed.
  @discardableResult
  public func stop() async -> [ModuleFailure] { await runner.stop(self) }

  /// Starts modules that came since the Hive was started.
  ///
  /// Latecomers are modules of images and files, and modules whose missing requirement is there by now. Modules that
  /// code registers start at once, without this call. If a module calls it while modules are being started, it returns
  /// at once: that start takes the latecomers in.
  ///
  /// - Returns: The modules that failed now, then those that came since the start and cannot be ordered: a requirement
  ///   is missing, or they wait for each other. Empty if the Hive does not run.
  @discardableResult
  public func startLatecomers() async -> [ModuleFailure] {
    let (failures, order) = await runner.startLatecomers()
    // The start's own report has what it could not order.
    return failures + order.failures(besides: await runner.report.order)
  }

  /// The names of the modules that run, in the order of their start.
  public var runningModules: [String] { get async { await runner.names } }

  /// Registers a module by its type; in a Hive that runs, starts it at once.
  ///
  /// During a start, the module becomes part of that start.
  ///
  /// - Parameters:
  ///   - type: The module; the Hive makes one instance.
  ///   - name: The name that others require it by; nil for the type's qualified name.
  ///   - version: Its version, numbers with dots between them, for those that require some versions only.
  ///   - level: Whether it starts among the basic modules.
  ///   - priority: Larger first within a level.
  ///   - requires: Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
  ///   - after: Modules that start earlier if they are present.
  ///   - file: The file that registers it: errors and reports name the location.
  ///   - line: The line in that file.
  /// - Throws: ``Problem`` if it is refused, for example as a duplicate. In a Hive that runs also ``ModuleFailure`` if
  ///   it failed to start, and ``LaunchError`` if a requirement is missing or waits for it.
  public func register<M: Module>(
    module type: M.Type, name: String? = nil, version: String? = nil,
    level: ModuleLevel = .normal, priority: Int = 0, requires: [String] = [],
    after: [String] = [], file: String = #fileID, line: UInt = #line
  ) async throws {
    try await registerAndStart(
      RegisteredEntry(
        module: name ?? TypeSpelling.of(type).qualified, version: version, level: level,
        priority: priority, requires: requires, after: after,
        source: .code(file: file, line: line),
        progress: .bound(.closure(FactoryClosure { _ in type.init() }))))
  }

  /// Registers a module that a closure makes, for a module that needs more than its type.
  ///
  /// - Parameters:
  ///   - name: The name that others require it by.
  ///   - version: Its version, numbers with dots between them, for those that require some versions only.
  ///   - level: Whether it starts among the basic modules.
  ///   - priority: Larger first within a level.
  ///   - requires: Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
  ///   - after: Modules that start earlier if they are present.
  ///   - file: The file that registers it: errors and reports name the location.
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

  /// Registers the entries of a file, by the same rules and in the same order as all others.
  ///
  /// A refused entry, such as a duplicate, is listed in `entries` with its reason; the others are
  /// registered.
  ///
  /// - Parameters:
  ///   - registrations: The decoded contents. The Hive does not use its URL scheme.
  ///   - file: The name that reports print. The same contents by a name that was given before are not registered again.
  /// - Throws: ``Problem`` with `duplicate`, if the name was given before with other contents; with `unmounted`, if the
  ///   module whose task calls has been unmounted.
  public func register(_ registrations: Registrations, file: String) throws(Problem) {
    let hash = registrations.hashValue
    let former = state.withLock { state in
      let former = state.files[file]
      if former == nil { state.files[file] = hash }
      return former
    }
    guard former != hash else { return }
    guard former == nil else {
      throw Problem(
        .duplicate, "\(file) was registered before with other contents; \(Remedy.renameFile)")
    }
    let modules = registrations.moduleClasses.enumerated().map { index, module in
      RegisteredEntry(
        module: module.moduleClass, version: module.version, level: module.moduleLevel,
        priority: module.modulePriority, requires: module.requires, after: module.after,
        source: .file(file, keyPath: "moduleClasses[\(index)]"), progress: .accepted(.notYetLooked))
    }
    let services = registrations.services.enumerated().map { index, service in
      RegisteredEntry(
        service: service.service, implementation: service.impl, given: service.name,
        scope: service.scope, priority: service.priority,
        source: .file(file, keyPath: "services[\(index)]"), progress: .accepted(.notYetLooked))
    }
    let entries = modules + services
    owned { [self] in state.withLock { $0.files[file] = nil } }
    try add(entries)
  }

  /// Adds a module, and starts it in a Hive that runs.
  private func registerAndStart(_ entry: RegisteredEntry) async throws {
    try register(entry)
    try await start([entry])
  }

  /// Starts latecomers in a Hive that runs. Throws the reason that one of them did not start.
  func start(_ latecomers: [RegisteredEntry]) async throws {
    let names = Set(latecomers.map(\.name))
    let (failures, order) = await runner.startLatecomers()
    // Another call may have started them.
    let known = runner.states.withLock { $0.failures(of: latecomers) }
    if let failure = (failures.filter { names.contains($0.module) } + known).first { throw failure }
    var left = order
    left.missing.removeAll { !names.contains($0.module.name) }
    left.cycles.removeAll { cycle in !cycle.contains { names.contains($0.name) } }
    if !left.problems.isEmpty { throw LaunchError(order: left) }
  }

  /// Removes the modules of a name, and their registrations.
  ///
  /// A running module is torn down and unmounted first, after the step that it is in. Modules that require it stay as
  /// they are.
  ///
  /// - Parameter name: The module's name, whatever registered or declared it.
  /// - Returns: Whether there was one.
  @discardableResult
  public func unregister(module name: String) async -> Bool {
    refresh()
    return !(await takeOut { $0.table.withdraw { $0.kind == .module && $0.name == name } }.isEmpty)
  }

  /// Removes one entry, whatever registered or declared it: a module is torn down first, a service ends as in
  /// ``removeServices(named:given:)``.
  ///
  /// - Parameter entry: One of ``entries``.
  /// - Returns: Whether it was still there.
  @discardableResult
  public func remove(_ entry: Entry) async -> Bool { await remove(entry.number) }

  func remove(_ number: UInt64) async -> Bool {
    !(await takeOut { $0.table.withdraw { $0.order == number } }.isEmpty)
  }

  /// Removes everything that a library declares, as if it had never been loaded.
  ///
  /// Its modules are torn down and unmounted first, its services end as in ``removeServices(named:given:)``, and its
  /// names are free. The library stays mapped until the process ends, because others may have pointers into it. Load a
  /// new build of it from a file of another name.
  ///
  /// - Parameter path: The path of the library, as reports, ``Entry/source`` or the loader have it; or its end, such as
  ///   `libshop.so`, which means every library whose path ends so.
  /// - Returns: The number of entries removed; 0 if no such library has registered.
  @discardableResult
  public func remove(image path: String) async -> Int {
    refresh()
    var names: [String] = []
    let removed = await takeOut { state in
      let found = state.images(called: path)
      for (image, _) in found { observers.post(.imageWithdrawn(path: image.path)) }
      names = found.map(\.image.name)
      return state.table.withdraw(found.flatMap(\.entries))
    }
    _ = pluginImages.withLock(\.self)?(names, true)
    return removed.count
  }

  /// Removes and returns the entries that `choose` takes out, tears their modules down and ends their instances.
  func takeOut(_ choose: (inout State) -> [RegisteredEntry]) async -> [RegisteredEntry] {
    let entries = await tearDown(choose)
    end(entries)
    return entries
  }

  /// Does the same without an end of instances: modules use their services until they are down.
  func tearDown(_ choose: (inout State) -> [RegisteredEntry]) async -> [RegisteredEntry] {
    // Out of the list first, so that a start under way does not come back to them.
    let entries = hide(choose)
    await runner.remove(Set(entries.modules.map(\.order)))
    return entries
  }

  /// Reconsiders entries that were rejected as duplicates of entries that have left.
  func giveTurns(after gone: [RegisteredEntry]) {
    state.withLock { state in
      state.table.giveTurns(after: gone)
      for entry in gone { state.forgetAnswers(of: entry, cache: cache) }
    }
    cache.collect(now: true)
  }

  /// Returns the one library of a path and its entries, if it can be replaced now.
  func replaceable(_ path: String) async throws(Problem) -> State.Image {
    refresh()
    let found = state.withLock { $0.images(called: path) }
    guard let image = found.first, found.count == 1 else {
      let paths = found.map(\.image.path).joined(separator: ", ")
      throw Problem(
        .notReplaced,
        found.isEmpty ? "it has not registered, or was removed" : "say which: \(paths)")
    }
    guard await runner.isAtRest(outside: image.entries) else {
      throw Problem(
        .notReplaced, "this, a start or a stop waits for the calling module; call from elsewhere")
    }
    return image
  }

  /// Returns the entries of the image that the loader knows by this name, including removed ones.
  func entries(of name: String) throws -> [RegisteredEntry] {
    // An image that a busy machine does not pin in time is left for the next look.
    for _ in 0..<10 {
      refresh()
      let found = state.withLock { state in
        state.images.registered.last { [$0.name].has(name) }.map { state.table.declared(by: $0.id) }
      }
      if let found, !found.isEmpty { return found }
    }
    let problem = imageProblems.first { $0.image == name }
    let isOwn = followsLoader && isChosen?(name) != false
    throw problem
      ?? Problem(
        .notReplaced,
        isOwn
          ? "the Hive does not find it"
          : "this Hive does not take it, as it was made with Hive() or for other images; use Hive.process"
      )
  }

  // MARK: Events

  /// Passes an event to every running module, in order.
  ///
  /// Each module that runs now gets it once, unless the module leaves before its turn. Modules that register meanwhile
  /// do not get it. Events may overlap each other. In a Hive that is not started, no module gets the event.
  ///
  /// - Parameter event: The event. It goes to each module until one answers `.stop`.
  /// - Returns: The answer of each module, and the failures.
  @discardableResult
  public func trigger(_ event: Event) async -> EventOutcome { await runner.dispatch(event) }

  /// Asks every module that runs, and returns the first answer of a type.
  ///
  /// A module answers with `.value`, or with `.stop` to be the last. Observers get later answers as `surplusReply`.
  ///
  /// - Parameters:
  ///   - event: The question.
  ///   - type: The type of the answer.
  /// - Returns: The first answer.
  /// - Throws: An error if no module answers; it tells what they did instead.
  public func ask<Answer: Sendable>(
    _ event: Event, for type: Answer.Type = Answer.self
  ) async throws -> Answer {
    let outcome = await runner.dispatch(event)
    let replies = outcome.answers.compactMap { answer in
      (answer.response.value as? Answer).map { (module: answer.module, value: $0) }
    }
    guard let first = replies.first else {
      throw outcome.noAnswer(to: event, as: type)
    }
    for reply in replies.dropFirst() {
      observers.tell(.surplusReply(event: event.name, module: reply.module, winner: first.module))
    }
    return first.value
  }

  /// Asks with a value of the application's own, by its type.
  ///
  /// - Parameters:
  ///   - question: The question for the modules.
  ///   - type: The type of the answer.
  /// - Returns: The first answer.
  /// - Throws: An error if no module answers.
  public func ask<Question: Sendable, Answer: Sendable>(
    _ question: Question, for type: Answer.Type = Answer.self
  ) async throws -> Answer {
    try await ask(Event(question), for: type)
  }

  // MARK: Launching

  static func names(listedIn text: String) -> Set<String> {
    Set(text.split { $0 == "," || $0 == " " }.map(String.init))
  }

  /// Returns whether an entry is still part of the Hive.
  func isRegistered(_ entry: RegisteredEntry) -> Bool { state.withLock { _ in !entry.isWithdrawn } }

  // MARK: Owning

  /// Makes a handle of a function that undoes something. The Hive calls the function, too, when the module whose code
  /// is running has been unmounted; at once if it has been already.
  @discardableResult
  package func owned(_ undo: @escaping @Sendable () -> Void) -> Handle {
    runner.belongings?.handle(undo) ?? Handle(undo)
  }

  /// Adds entries, in their order, for the module whose code is running. If that module has been unmounted, withdraws
  /// the entries and throws.
  func add(_ entries: [RegisteredEntry]) throws(Problem) {
    let belongings = runner.belongings
    let owner = belongings.map(ObjectIdentifier.init)
    state.withLock { state in
      for entry in entries {
        entry.owner = owner
        state.add(entry, cache: cache)
      }
    }
    observers.deliver()
    cache.collect()
    if belongings?.noteEntries() != false { return }
    withdraw { $0.owner == owner }
    throw Problem(
      .unmounted,
      "the module whose code registers \(entries.map(\.name).joined(separator: ", ")) has been "
        + "unmounted; end its tasks in tearDown")
  }
}

extension Hive {
  /// Starts the modules, waits until the process is to end, and tears them down.
  ///
  /// It ends when a terminating signal comes, its task is cancelled or `stop` is called, also during the start. It ends
  /// at once if the last call before it was a `stop` that had nothing to stop. Modules get `willTerminate` first,
  /// except after `stop`. Only a run observes signals; afterwards the previous handlers are back.
  ///
  /// A second SIGTERM, SIGINT or SIGQUIT ends the process at once, whatever modules are doing. Its status is 128 and
  /// the signal's number. Neither that nor `tearDownLimit` needs a free thread of the concurrency runtime's pool. To
  /// return to its caller, `run` needs a thread that the caller runs on.
  ///
  /// - Parameters:
  ///   - context: The context of the modules; nil for a context of this Hive with the defaults.
  ///   - options: The options of the start, the signals to observe, and the time that the end may take.
  /// - Returns: The reason that it ended, and the modules that failed or had not come back.
  /// - Throws: ``LaunchError`` if signals cannot be observed, or if the modules did not start. Nothing runs then.
  @discardableResult
  public func run(
    _ context: Context? = nil, options: RunOptions = RunOptions()
  ) async throws(LaunchError) -> RunReport {
    // Not on the pool: whatever blocks its threads, the limit holds.
    try await withTaskExecutorPreference(ModuleThreads.shared) { () async throws(LaunchError) in
      try await runner.run(self, context, options)
    }
  }
}
