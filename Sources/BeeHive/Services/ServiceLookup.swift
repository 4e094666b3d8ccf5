internal import Registration
internal import Threads

/// One lookup by Swift type: which entry answers, and why the others do not.
struct ServiceLookup<Service: Sendable> {
  let type: Service.Type
  let name: String?
  /// What the factory is given.
  let parameter: (any Sendable)?
  /// Who keeps the instances of scoped services: the one that was asked, or for which the calling
  /// thread is making what needs this.
  let scope: ServiceScope?
  let hive: Hive
  /// Whether the asker waits for services that are made asynchronously.
  var isPatient = false
  /// Whether what is made answers the lookup, and may be kept as its answer.
  var isAnswer = true
  /// What was looked at and why it cannot serve.
  var refusals: [(source: Source, reason: String)] = []
  /// What the Hive held when it was looked at.
  var version = 0
  /// Whether an entry that nothing makes yet was passed over.
  var mayChange = false

  init(
    type: Service.Type, name: String?, parameter: (any Sendable)? = nil,
    scope: ServiceScope? = nil, hive: Hive
  ) {
    self.type = type
    self.name = name
    self.parameter = parameter
    self.scope = scope ?? Creation.scope(of: hive)
    self.hive = hive
  }

  typealias Recipe = @Sendable (Hive) throws -> Service?

  struct Candidate {
    let entry: RegisteredEntry
    let provider: Provider
    let isCertain: Bool
  }

  /// The service; nil where no entry serves, and `failure` says why.
  mutating func run() throws(ServiceError) -> Service? {
    var candidates = candidates()
    while let first = candidates.first {
      let recipe = recipe(first.provider)
      if first.entry.isOverride { return try instance(of: first.entry, recipe) }
      try checkRivals(of: first, among: candidates)
      remember(first, recipe)
      if let service = try instance(of: first.entry, recipe) { return service }
      refusals.append((first.entry.source, "its accessor makes another type"))
      candidates.removeFirst()
    }
    return nil
  }

  /// Which entry answers, without making anything.
  mutating func choose() throws(ServiceError) -> Candidate? {
    let candidates = candidates()
    guard let first = candidates.first else { return nil }
    if !first.entry.isOverride { try checkRivals(of: first, among: candidates) }
    return first
  }

  private func checkRivals(
    of first: Candidate, among candidates: [Candidate]
  ) throws(ServiceError) {
    let rivals = candidates.filter {
      $0.isCertain && $0.entry.attributes.priority == first.entry.attributes.priority
        && $0.entry !== first.entry
    }
    if first.isCertain, !rivals.isEmpty { throw ambiguity([first] + rivals) }
  }

  /// The service by what a lookup before this one found, if that still holds; throws where it found none.
  func again() throws(ServiceError) -> Service? {
    let found = hive.cache.object(at: LookupCache.recipeKey(key), name: name)
    if let known = found as? CachedRecipe<Service> {
      return try instance(of: known.entry, known.make)
    }
    // Before a miss is reported again, the loader is asked for new images, as at the first time.
    // What another thread has found takes the miss away.
    guard let miss = found as? CachedMiss, !hive.catchUp(probing: true),
      hive.cache.object(at: LookupCache.recipeKey(key), name: name) === miss
    else { return nil }
    var error = miss.error
    error.hint = hint(for: error)
    throw error
  }

  /// Every service that can be had, larger priority first, whatever its name: those that need a scope
  /// where there is one.
  mutating func all() throws(ServiceError) -> [Service] {
    (refusals, isAnswer) = ([], false)
    var services: [Service] = []
    for candidate in fitting() where scope != nil || candidate.entry.scope != .scoped {
      if let service = try instance(of: candidate.entry, recipe(candidate.provider)) {
        services.append(service)
      }
    }
    return services
  }

  /// Which entries can or may make the type, and what of, without making one.
  mutating func implementations() -> [(entry: RegisteredEntry, type: Any.Type?)] {
    fitting().map { candidate in
      switch candidate.provider {
      case .injectable(let type, _): (candidate.entry, type)
      case .closure(let factory): (candidate.entry, Self.implementation(factory.serviceType()))
      case .accessor: (candidate.entry, implementation(named: candidate.entry.implementation))
      case .structure, .module: (candidate.entry, nil)
      }
    }
  }

  /// A protocol implements nothing: only the factory knows what it makes.
  private static func implementation(_ type: Any.Type) -> Any.Type? {
    ExistentialLayout.kind(of: type) == .other ? type : nil
  }

  /// The type that an annotation names, where it is the one that serves.
  private func implementation(named name: String?) -> Any.Type? {
    guard let name, case .found(let found) = TypeLookup.type(named: TypeName(name)),
      Conformance.of(found, to: type) == .holds
    else { return nil }
    return found
  }

  /// The entries that can or may make the type: those of the task's overrides, the latest first, then by
  /// larger priority, then in order. With a given name, only those that have it.
  mutating func fitting(given name: String? = nil) -> [Candidate] {
    var found: [Candidate] = []
    let names = TypeSpelling.of(type).all
    let services = hive.services(named: names, of: type, given: name)
    version = services.version
    let ofTask = TaskOverride.entries(of: hive).filter {
      names.contains($0.name) && (name == nil || $0.attributes.name == name)
    }
    for entry in ofTask + services.entries.sorted(by: { $0.answersBefore($1) }) {
      switch hive.boundProgress(of: entry, asked: type) {
      case .bound(let provider):
        switch fitness(of: provider, of: entry) {
        case .holds: found.append(Candidate(entry: entry, provider: provider, isCertain: true))
        case .undecided: found.append(Candidate(entry: entry, provider: provider, isCertain: false))
        case .fails(let reason): refusals.append((entry.source, reason))
        }
      case .accepted(let problem):
        mayChange = true
        refusals.append((entry.source, problem.message))
      case .rejected(let problem): refusals.append((entry.source, problem.message))
      }
    }
    return found
  }

  /// Those that may answer. Without a name, those without a name, else all.
  private mutating func candidates() -> [Candidate] {
    refusals = []
    let found = fitting(given: name)
    guard name == nil else { return found }
    let unnamed = found.filter { $0.entry.attributes.name == nil }
    return unnamed.isEmpty ? found : unnamed
  }

  /// Whether an entry can make the type.
  private func fitness(of provider: Provider, of entry: RegisteredEntry) -> Conformance {
    switch provider {
    case .structure: return .fails("it is written in C; look it up by name")
    case .module: return .fails("it is a module")
    case .accessor(let accessor):
      // It tells by making one or refusing.
      guard let service = accessor.service else { return .undecided("only its accessor knows") }
      return service == ObjectIdentifier(type as Any.Type)
        ? .holds : .fails("its accessor makes another type of that name")
    case .injectable(let implementation, _): return Conformance.of(implementation, to: type)
    case .closure(let factory):
      if let needed = factory.parameter {
        guard let parameter else {
          return .fails("its factory needs a \(needed.unqualified); ask with one")
        }
        guard factory.takes(parameter) else { return wrong(parameter, needed) }
      }
      if factory.load != nil, !isPatient, !isLoaded(entry) {
        return .fails("it is made asynchronously; ask with `await hive.load(…)`")
      }
      if factory.service == ObjectIdentifier(type as Any.Type) { return .holds }
      return Conformance.of(factory.serviceType(), to: type)
    }
  }

  /// Whether a singleton that is made asynchronously is there.
  private func isLoaded(_ entry: RegisteredEntry) -> Bool {
    entry.scope == .singleton && keeper(of: entry).instance != nil
  }

  private func wrong(_ parameter: any Sendable, _ needed: TypeSpelling) -> Conformance {
    let given = TypeSpelling.of(Swift.type(of: parameter as Any))
    let isClear = needed.unqualified != given.unqualified
    return .fails(
      "its factory takes a \(isClear ? needed.unqualified : needed.qualified), and was given a "
        + "\(isClear ? given.unqualified : given.qualified)")
  }
}

extension Hive {
  /// Finds the services that a lookup may mean: those of any of these names, which are the spellings of the
  /// type (`TypeSpelling`), and those whose code says that they serve as `type`, whatever their name.
  ///
  /// - Parameters:
  ///   - names: Every way to spell the type.
  ///   - type: The type; nil where it is asked for by name alone.
  ///   - given: The given name that they must have; nil for any.
  /// - Returns: The services, in order of registration, and the table's version at that time.
  func services(
    named names: [String], of type: Any.Type? = nil, given: String? = nil
  ) -> (entries: [RegisteredEntry], version: Int) {
    state.withLock { state in
      var entries = names.flatMap { name in
        given.map { state.table.services(named: name, given: $0) }
          ?? state.table.services(named: name)
      }
      if let type {
        entries += state.table.services(serving: ObjectIdentifier(type), given: given)
          .filter { !names.contains($0.name) }
      }
      return (entries, state.table.version)
    }
  }
}
