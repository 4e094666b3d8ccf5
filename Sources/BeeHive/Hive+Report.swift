public import BinaryImage
internal import LibC
internal import Threads

/// Everything a Hive knows of itself, as values: for people by `description`, for programs by `json` or any
/// encoder.
///
///     print(hive.report())
///     try hive.validate()  // throws it where something is wrong
public struct Report: Encodable, Sendable {
  /// One entry.
  package struct Line: Encodable, Hashable, Sendable {
    /// `bound`, `accepted` or `rejected`; `disabled` for a module that is switched off by name.
    package var state: String
    /// `module`, `service`, …
    package var kind: String
    /// The name as declared.
    package var name: String
    /// What implements it, as declared.
    package var implementation: String?
    /// The path of the image that declares it, or the file and the place in it.
    package var origin: String
    /// The section of the image; nil for other origins.
    package var section: String?
    /// The slot in the section; nil for other origins.
    package var index: Int?
    /// The stable code of what keeps it from being bound.
    package var code: String?
    /// What keeps it from being bound, and what to do; for a disabled one, who switches it off; for a
    /// module that does not run, why; for one that counts as started though a step failed, the failure.
    package var reason: String?
    /// Of a bound module, while the Hive starts or runs: `starting`, `started`, `failed` or
    /// `not started`. After a start that was given up: `failed` or `not started`. Nil
    /// otherwise.
    package var launch: String?
    /// `libshop.so BeehiveRecords[1]`, or `Shop/Cart.swift:12`: as `Source` says it, for people.
    var place: String
    /// That of the entry.
    var number: UInt64

    /// Everything but what is for people.
    private enum CodingKeys: CodingKey {
      case state, kind, name, implementation, origin, section, index, code, reason, launch
    }
  }

  /// The entries, in order of registration.
  package var entries: [Line]
  /// Images that could not be inspected or carry a second runtime; one sentence each, and its code.
  package var images: [String]
  /// Requirements that no module meets, and cycles; one sentence each.
  public var order: [String]
  /// Normal modules that start among the basic ones, because a basic one requires them.
  package var lifts: [String]
  /// Names that are switched off and that no module has; one sentence each.
  public var remarks: [String] = []

  /// Whether nothing is wrong: every entry is bound and can be made, every image was read, the modules can be ordered.
  package var isClean: Bool {
    images.isEmpty && order.isEmpty && entries.allSatisfy { $0.code == nil }
  }
}

extension Report: CustomStringConvertible {
  /// Aligned columns, a line for each entry, then what concerns whole images and the order.
  public var description: String {
    let rows = entries.map { line in
      [
        line.code != nil && line.state == "accepted" ? "unbound" : line.launch ?? line.state,
        line.kind, line.implementation.map { "\(line.name) → \($0)" } ?? line.name,
        line.place, line.reason ?? "",
      ].map(\.escaped)
    }
    return (rows.aligned() + images.map { "image \($0)" } + order + lifts + remarks)
      .joined(separator: "\n")
  }
}

extension Report.Line {
  /// `source` says where the entry is, as it is told from the others.
  init(
    _ entry: Entry, at source: String, launch stage: ModuleStage?
  ) {
    kind = entry.kind.description
    name = entry.name
    number = entry.number
    implementation = entry.implementation
    switch entry.source {
    case .image(let place):
      (origin, section, index) = (place.image.plainPath, place.section, place.index)
    case .code, .file:
      (origin, section, index) = (source, nil, nil)
    }
    let problem: Problem?
    switch entry.state {
    case .bound: (state, problem) = ("bound", nil)
    case .accepted(let found): (state, problem) = ("accepted", found)
    case .rejected(let found): (state, problem) = ("rejected", found)
    }
    code = problem?.code.rawValue
    reason = problem?.message
    place = source
    guard let stage, state != "rejected" else { return }
    if stage.code == .disabled {
      (state, code, reason) = (stage.word, nil, stage.reason)
    } else if state == "bound" {
      (launch, reason) = (stage.word, stage.reason)
    }
  }
}

extension Hive {
  /// Describes what the Hive holds and what is wrong with it, after asking the loader once more.
  ///
  /// - Returns: Every entry and problem. While the Hive runs, each module's line says whether it was
  ///   started: one that came later, of a library that was opened since, is `not started` until
  ///   ``startLatecomers()``.
  public func report() -> Report { report(with: [:]) }

  /// The same, with what could not be made, by the order of its entry.
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

  /// The problems of whole images, each once: of those that could not be inspected, that carry a second runtime, or
  /// whose linker put entries where no process looks (`ld --unique`).
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

  /// Adds what the declared needs of bound entries prove: that no lookup makes them.
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

  /// Checks that every entry is bound, every image was read, the modules can be ordered, and no singleton declares
  /// that it needs a scoped service.
  ///
  /// - Throws: ``ValidationError``, with everything that is wrong at once.
  public func validate() throws(ValidationError) {
    let report = report()
    if !report.isClean { throw ValidationError(report: report) }
  }

  /// Checks the same, and on request that each bound service can be made.
  ///
  /// What is made is let go at the end: singletons and scoped services are made for this call alone, and C
  /// factories destroy what they made. Services that need a parameter are not made. Factories run, with
  /// whatever they open or connect to: for a check before a release rather than for each start.
  ///
  /// - Parameter making: Whether to make each service.
  /// - Throws: ``ValidationError``, with everything that is wrong at once; what a factory threw is in the
  ///   line of its entry.
  public func validate(making: Bool) async throws(ValidationError) {
    let report = report(with: making ? await failuresOfMakingEach() : [:])
    if !report.isClean { throw ValidationError(report: report) }
  }
}

/// Everything that keeps a Hive from being whole.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
  /// The whole report.
  public var report: Report

  /// What is wrong, a line for each cause.
  public var description: String {
    var wrong = report
    wrong.entries.removeAll { $0.code == nil }
    wrong.lifts = []
    wrong.remarks = []
    return wrong.description
  }
}

extension Report {
  /// The report as JSON, for hosts without an encoder: what `JSONEncoder` makes of it, in this order
  /// of keys and with a line for each entry.
  public var json: String {
    let lists: KeyValuePairs = [
      "images": images, "order": order, "lifts": lifts, "remarks": remarks,
    ]
    let texts = lists.map { ",\n  \"\($0)\": \(JSONValue.array($1.map(JSONValue.string)).text)" }
    return "{\n  \"entries\": \(entries.map(\.json.text).lines)\(texts.joined())\n}\n"
  }
}

extension Report.Line {
  fileprivate var json: JSONValue {
    .object([
      "state": .string(state), "kind": .string(kind), "name": .string(name),
      "implementation": implementation.map(JSONValue.string), "origin": .string(origin),
      "section": section.map(JSONValue.string), "index": index.map { .integer(Int64($0)) },
      "code": code.map(JSONValue.string), "reason": reason.map(JSONValue.string),
      "launch": launch.map(JSONValue.string),
    ])
  }
}

// "Did you mean", for what a report lists.
extension Report {
  /// The most entries to look for similar types of. Each is compared with all types of the process.
  private static let most = 16

  /// Adds to what waits for a type the types that are loaded and have nearly its name.
  static func addSimilarTypes(to lines: inout [Line]) {
    let waiting = lines.indices.filter {
      lines[$0].state == "accepted" && lines[$0].code == Problem.Code.noSuchType.rawValue
    }.prefix(most)
    let names = waiting.map { TypeName(lines[$0].type) }
    for (index, similar) in zip(waiting, TypeLookup.similar(to: names)) {
      lines[index].reason? += question(about: similar)
    }
  }
}

extension Report.Line {
  /// The name of the type that it waits for.
  fileprivate var type: String { kind == "module" ? name : implementation ?? "" }
}

extension Hive {
  /// The names of all modules, whatever became of them.
  var moduleNames: Set<String> { state.withLock { $0.table.names(of: .module) } }

  /// The names of modules that do not start: those that the start was told of, and the ones in the
  /// environment variable `BEEHIVE_DISABLE`, separated by commas.
  var switchedOff: Set<String> {
    let disabled = state.withLock { $0.disabled }
    guard let value = unsafe getenv("BEEHIVE_DISABLE") else { return disabled }
    return unsafe disabled.union(Self.names(listedIn: String(cString: value)))
  }

  /// The names that are switched off and that no module has; one sentence each.
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
  /// Looks for modules with nearly the names that are required and that none has.
  mutating func look(for names: Set<String>) {
    for index in missing.indices.prefix(64) where missing[index].reason == nil {
      missing[index].similar = nearest(to: missing[index].requirement, in: names)
    }
  }
}

extension Hive {
  /// Makes each bound service, and lets go of it; why one could not be made, by the order of its entry.
  func failuresOfMakingEach() async -> [UInt64: ServiceError] {
    bindUnbound()
    let services = state.withLock { state in
      state.table.entries { $0.kind == .service && $0.provider != nil }
    }
    return await ServiceScope.overriding(in: self) {
      let scope = makeScope()
      defer { scope.end() }
      var failures: [UInt64: ServiceError] = [:]
      // What is made asynchronously first: others can only find it then.
      for entry in services.filter(\.isAsynchronous) + services.filter({ !$0.isAsynchronous }) {
        do throws(ServiceError) { try await make(entry, in: scope) } catch {
          failures[entry.order] = error
        }
      }
      return failures
    }
  }

  private func make(_ entry: RegisteredEntry, in scope: ServiceScope) async throws(ServiceError) {
    // What outlives every scope is made without one.
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
    // For the override of this task, which keeps what is made.
    _ = lookup.fitting()
    guard let provider = entry.provider else { return }
    if case .closure(let factory) = provider, let load = factory.load {
      _ = try await lookup.loaded(entry, load)
      return
    }
    // As which type others would find it is not known: nothing may keep it.
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
