public import BinaryImage
internal import LibC
public import Registration
internal import Threads

extension Hive {
  /// Describes what the Hive holds and what is wrong with it, after asking the loader once more.
  ///
  /// - Returns: Every entry and problem. While the Hive runs, each module's line says whether it was started. A module
  ///   of a library that was opened since is `not started` until ``startLatecomers()``.
  public func report() -> Report { report(with: [:]) }

  /// Describes the same, with the services that could not be made, by the order of their entries.
  private func report(with failures: [UInt64: ServiceError]) -> Report {
    bindUnbound()
    let launch = ModuleStates().launchable(of: self).report
    let obstacles = launch.order.obstacles
    let switchedOff = self.switchedOff
    let states = runner.states.withLock(\.copied)
    let entries = state.withLock { state in
      state.table.all.map { entry in
        let stage = states.stage(of: entry, obstacles, switchedOff: switchedOff)
        return (entry.snapshot, stage, failures[entry.order])
      }
    }
    let sources = Source.told(apart: entries.map(\.0.source))
    var lines = zip(entries, sources).map { entry, source in
      var line = Report.Line(entry.0, at: source, launch: entry.1)
      if let failure = entry.2 {
        (line.code, line.reason) = (failure.code.rawValue, failure.message)
      }
      return line
    }
    addFaultsOfNeeds(to: &lines, entries.map(\.0))
    Report.addSimilarTypes(to: &lines)
    return Report(
      entries: lines, images: imageProblems.map { "\($0) [\($0.code.rawValue)]" },
      order: launch.order.problems, lifts: launch.order.lifts,
      remarks: launch.remarks + Uses(of: self).remarks())
  }

  /// The problems of whole images, each once: images that could not be inspected, carry a second runtime, or have
  /// entries that their linker put where no process looks (`ld --unique`).
  ///
  /// Reads the file of each image that has come since the last time.
  public var imageProblems: [ImageError] {
    refresh()
    let unchecked = state.withLock { exchange(&$0.images.unchecked, with: []) }
    let faults = unchecked.filter { isChosen?($0.displayName) != false }
      .map { ($0.id, $0.lostEntries) }
    return state.withLock { state in
      for case (let id, let fault?) in faults { state.images.remark(id, fault, afterwards: true) }
      return state.images.problems
    }
  }

  /// Adds faults of bound entries: their declared needs prove that no lookup makes them.
  private func addFaultsOfNeeds(to lines: inout [Report.Line], _ entries: [Entry]) {
    let bound = lines.indices.filter { lines[$0].state == "bound" }
    let needs = ServiceNeeds(
      of: bound.map { (entries[$0].kind, entries[$0].name, entries[$0].attributes) })
    for (code, positions, conflict) in needs.faults(at: { [lines] in lines[bound[$0]].place }) {
      let index = bound[positions[0]]
      let reason = "\(conflict.message); \(conflict.remedy)".escaped
      (lines[index].code, lines[index].reason) = (code, reason)
    }
  }

  /// Checks that every entry is bound, every image was read and the modules can be ordered. Also checks that no
  /// singleton declares that it needs a scoped service.
  ///
  /// - Throws: ``ValidationError``, with everything that is wrong at once.
  public func validate() throws(ValidationError) {
    let report = report()
    if !report.isClean { throw ValidationError(report: report) }
  }

  /// Checks the same, and on request that each bound service can be made.
  ///
  /// Nothing that was made outlives the call: singletons and scoped services are made for this call only, and C
  /// factories destroy what they made. Services that need a parameter are not made. Factories run, and may open files
  /// or connections. So use it before a release rather than for each start.
  ///
  /// - Parameter making: Whether to make each service.
  /// - Throws: ``ValidationError``, with everything that is wrong at once; the line of an entry has the error of its
  ///   factory.
  public func validate(making: Bool) async throws(ValidationError) {
    let report = report(with: making ? await failuresOfMakingEach() : [:])
    if !report.isClean { throw ValidationError(report: report) }
  }
}

extension Hive {
  /// The names of all modules, including rejected ones.
  var moduleNames: Set<String> { state.withLock { $0.table.names(of: .module) } }

  /// The names of modules that do not start: those in the options of the start, and those in the environment variable
  /// `BEEHIVE_DISABLE`, separated by commas.
  var switchedOff: Set<String> {
    let disabled = state.withLock { $0.disabled }
    guard let value = unsafe getenv("BEEHIVE_DISABLE") else { return disabled }
    return unsafe disabled.union(Self.names(listedIn: String(cString: value)))
  }

  /// Returns the names that are switched off and that no module has; one sentence each.
  func switchedOffInVain() -> [String] {
    let switchedOff = switchedOff
    guard !switchedOff.isEmpty else { return [] }
    let names = moduleNames
    return switchedOff.subtracting(names).sorted().map { name in
      let question = near(name, in: names)
      return "\(name) is switched off, but no module is called that\(question)".escaped
    }
  }
}

extension LaunchOrder {
  /// Adds the names of modules that resemble missing requirements.
  mutating func look(for names: Set<String>) {
    for index in missing.indices.prefix(64) where missing[index].reason == nil {
      let others = names.lazy.filter { [missing] in $0 != missing[index].module.name }
      missing[index].similar = nearest(to: missing[index].requirement, in: others)
    }
  }
}

extension Hive {
  /// Makes each bound service, and lets go of it. Returns the errors, by the order of the entries.
  func failuresOfMakingEach() async -> [UInt64: ServiceError] {
    bindUnbound()
    let services = state.withLock { state in
      state.table.entries { $0.kind == .service && $0.provider != nil }
    }
    return await ServiceScope.overriding(in: self) {
      let scope = makeScope()
      defer { scope.end() }
      var failures: [UInt64: ServiceError] = [:]
      // Asynchronous services first: others can only find them once they are made.
      for entry in services.filter(\.isAsynchronous) + services.filter({ !$0.isAsynchronous }) {
        do throws(ServiceError) { try await make(entry, in: scope) } catch {
          failures[entry.order] = error
        }
      }
      return failures
    }
  }

  private func make(_ entry: RegisteredEntry, in scope: ServiceScope) async throws(ServiceError) {
    // A service that outlives every scope is made without one.
    let scope = entry.scope == .singleton || entry.scope == .weak ? nil : scope
    let type: ObjectIdentifier?
    switch entry.provider {
    case .structure:
      let lookup = ServiceLookup(c: entry.name, name: entry.givenName, scope: scope, hive: self)
      try lookup.instance(of: entry, by: entry.provider, as: .transient)?.dispose()
      return
    case .accessor(let accessor): type = accessor.service
    case .closure(let factory) where factory.parameter == nil:
      type = factory.serving ?? factory.service
    case .closure, nil: type = nil
    }
    // Only its accessor may know the type: then no lookup can name it.
    guard let type else { return }
    // Sound: the identifier of a type is the address of its metadata, which is all that a metatype holds;
    // every registration requires that the type is `Sendable`.
    try await make(entry, as: unsafe unsafeBitCast(type, to: (any Sendable.Type).self), in: scope)
  }

  private func make<Service: Sendable>(
    _ entry: RegisteredEntry, as type: Service.Type, in scope: ServiceScope?
  ) async throws(ServiceError) {
    var lookup = ServiceLookup(type: type, name: entry.givenName, scope: scope, hive: self)
    // Sets the overrides of this task, which keep what is made.
    _ = lookup.fitting()
    guard let provider = entry.provider else { return }
    if case .closure(let factory) = provider, let load = factory.load {
      _ = try await lookup.loaded(entry, load)
      return
    }
    // The type that others would find it by is not known, so nothing may keep it.
    let scope = entry.servedType == nil ? .transient : entry.scope
    let recipe = lookup.recipe(provider)
    if try lookup.instance(of: entry, in: scope, { try recipe(self) }) == nil {
      throw ServiceError(.unusable, entry, "\(entry.source) makes another type")
    }
  }
}

extension RegisteredEntry {
  /// Whether its factory is asynchronous.
  fileprivate var isAsynchronous: Bool {
    if case .closure(let factory) = provider { factory.load != nil } else { false }
  }
}

// MARK: Why

extension Hive {
  /// Follows an entry through this process, and tells where it is lost.
  ///
  ///     print(hive.why("module:shop"))
  ///
  /// Asks the loader once more, as ``report()`` does. `section-dump why` follows an entry before it is in a process: through
  /// objects, archives, linked files, and the folders of plugins.
  ///
  /// - Parameter entry: Its kind and its name, with a colon between them; the kind is `module`, `service`, `target` or
  ///   `route`.
  /// - Returns: A way for each entry of this name; if there is none, a way that says so.
  public func why(_ entry: String) -> EntryTrace {
    let parts = entry.split(separator: ":", maxSplits: 1).map(String.init)
    let kinds: [RecordKind] = [.module, .service, .target, .route]
    guard parts.count == 2, kinds.map(\.description).contains(parts[0]) else {
      var way = EntryTrace.Way()
      way.add(.process, .lost, "no entry is called so", remedy: .askForKind)
      return EntryTrace(of: entry, [way])
    }
    let (kind, name) = (parts[0], parts[1])
    let report = report()
    let lines = report.entries.filter { $0.kind == kind && $0.name == name }
    let obstacles = ModuleStates().launchable(of: self).report.order.obstacles
    let isRunning = runner.states.withLock { $0.phase != .idle }
    guard lines.isEmpty else {
      return EntryTrace(
        of: "\(kind) \(name)", lines.map { self.way(of: $0, obstacles[name], isRunning: isRunning) }
      )
    }
    var way = EntryTrace.Way()
    let others = report.entries.filter { $0.kind == kind }.map(\.name)
    let other = report.entries.first { $0.name == name }
    let question =
      other.map { "; a \($0.kind) of that name is in \($0.place)" } ?? near(name, in: others)
    let images = report.images.map { "; \($0)" }.joined()
    way.add(
      .process, .lost, "no loaded file has it\(question)\(images)",
      remedy: .nameFiles(of: entry))
    return EntryTrace(of: "\(kind) \(name)", [way])
  }

  /// Returns the way of an entry that this process has; `obstacle` is the reason that a module cannot be ordered.
  private func way(
    of line: Report.Line, _ obstacle: String?, isRunning: Bool
  ) -> EntryTrace.Way {
    var way = EntryTrace.Way()
    way.add(.process, .here, line.place)
    let lost = line.code.map {
      EntryTrace.Stage(ofProblem: $0, isRejected: line.state == "rejected")
    }
    let obstacle = line.kind == "module" ? obstacle : nil
    for stage in [EntryTrace.Stage.rules, .duplicates, .binding, .requirements] {
      if stage == lost {
        way.add(stage, .lost, line.reason ?? "", code: line.code, remedy: nil)
      } else if stage == .requirements, let obstacle {
        way.add(stage, .lost, obstacle)
      } else {
        way.add(stage, .here, stage.praise)
      }
    }
    guard line.kind == "module" else { return way }
    if line.launch == "started" {
      way.add(.start, .here, line.reason ?? EntryTrace.Stage.start.praise)
    } else if line.state == "disabled" || isRunning {
      way.add(.start, .lost, line.reason ?? line.launch ?? line.state)
    } else {
      way.add(.start, .unseen, "the Hive does not run")
    }
    return way
  }
}

extension EntryTrace.Stage {
  /// Creates the stage that a problem of an entry belongs to.
  fileprivate init(ofProblem code: String, isRejected: Bool) {
    switch Problem.Code(rawValue: code) {
    case .duplicate: self = .duplicates
    case .noSuchType, .ambiguousType, .doesNotConform, .noInitializer, .unhandledKind,
      .unknownABI, .badContext, .badCode, .notLoaded:
      self = .binding
    // Bound, and its needs show that no lookup makes it.
    default: self = isRejected ? .rules : .requirements
    }
  }
}

// MARK: Observing

extension Hive {
  /// Passes the notices of this Hive to an observer from now on, on the thread that causes them.
  ///
  /// An observation that a module adds inside its steps and events ends when the module is unmounted.
  ///
  /// - Parameters:
  ///   - fromStart: Whether to send notices of the present entries too, on the calling thread: the process's Hive has
  ///     found some before anything could observe it. Notices from other threads may come before them, and some notices
  ///     twice.
  ///   - observer: Called with no lock held, so it may ask the Hive; several threads may call it at once.
  /// - Returns: Its `cancel()` ends the observation; forgetting the value does not.
  @discardableResult
  public func observe(
    fromStart: Bool = false, _ observer: @escaping @Sendable (HiveNotice) -> Void
  ) -> Handle {
    if fromStart { bindUnbound() }
    // Under one lock, so that nothing comes between the present entries and the later notices.
    let (observation, present, problems) = state.withLock { state in
      fromStart
        ? (observers.add(observer), state.table.all.map(\.snapshot), state.images.problems)
        : (observers.add(observer), [], [])
    }
    let handle = owned { observation.cancel() }
    for entry in present { observer(entry.notice) }
    for error in problems { observer(.imageNotInspected(error)) }
    return handle
  }

  /// Passes the notices of this Hive to an observer. Sets a task local for each step and event of a module.
  ///
  ///     hive.observe(setting: ServiceContext.$current) { notice in spans.context(of: notice) }
  ///
  /// The module's code, and the tasks that it begins, have the value while the step or event is under way.
  ///
  /// - Parameters:
  ///   - local: The task local.
  ///   - observer: Called like the observer of ``observe(fromStart:_:)``. Returns the value at `stepBegan`, nil to set
  ///     none; at other notices its value has no effect.
  /// - Returns: Its `cancel()` ends the observation; a step that is under way keeps the value.
  @discardableResult
  public func observe<Value: Sendable>(
    setting local: TaskLocal<Value>, _ observer: @escaping @Sendable (HiveNotice) -> Value?
  ) -> Handle {
    let observation = observers.add(setting: local, observer)
    return owned { observation.cancel() }
  }
}
