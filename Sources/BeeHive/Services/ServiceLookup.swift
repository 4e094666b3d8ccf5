internal import Threads

/// One lookup, by Swift type or by the name of a C service. Finds the entry that answers, and why others do not.
///
/// `Service` is the type that an entry makes. For a C service it is `CInstance`, and the caller gets its address.
struct ServiceLookup<Service: Sendable> {
  typealias Recipe = @Sendable (Hive) throws -> Service?

  /// An entry that can or may answer. An override has the priority of the entry that it replaces.
  typealias Candidate = (entry: RegisteredEntry, provider: Provider, isCertain: Bool, priority: Int)

  /// The wanted type; nil for a C service.
  let type: Service.Type?
  /// The name of a C service.
  let service: String
  /// The bytes of the C table that the caller knows; 0 if only C knows its layout.
  let size: Int
  let name: String?
  /// The parameter for the factory.
  let parameter: (any Sendable)?
  /// The scope that keeps scoped services: the scope of the lookup, or the scope of the instance that the calling
  /// thread is making.
  let scope: ServiceScope?
  let hive: Hive
  /// Whether the caller waits for services that are made asynchronously.
  var isPatient = false
  /// The entries that cannot serve, and the reasons.
  var refusals: [(source: Source, reason: String)] = []
  /// The version of the Hive's entries that were looked at.
  var version = 0
  /// Whether an unbound entry was passed over.
  var mayChange = false
  /// The overrides of the task at the time of the lookup, the latest first.
  private(set) var overrides: [ServiceScope.Override] = []

  init(
    type: Service.Type?, c service: String = "", size: Int = 0, name: String?,
    parameter: (any Sendable)? = nil, scope: ServiceScope? = nil, hive: Hive
  ) {
    (self.type, self.service, self.size) = (type, service, size)
    (self.name, self.parameter) = (name, parameter)
    self.scope = scope ?? Creation.scope(of: hive)
    self.hive = hive
  }

  /// The names that a record may have for the service.
  var names: [String] { type.map { TypeSpelling.of($0).all } ?? [service] }

  /// The key of the answers that lookups find without a lock.
  var key: UInt {
    question.map { LookupCache.key(of: Service.self, name: $0) }
      ?? LookupCache.key(of: Service.self)
  }

  /// The name that the answer is kept under. It includes the size, because a C table may be too short for other
  /// callers.
  var question: String? {
    type == nil ? "\(service)\0\(name.map { "=\($0)" } ?? "")\0\(size)" : name
  }

  // MARK: Choosing

  /// Returns the service; nil if no entry serves, and `failure` says why.
  mutating func run() throws(ServiceError) -> Service? {
    var candidates = candidates()[...]
    while let first = try takeFirst(of: &candidates) {
      let recipe = recipe(first.provider)
      remember(first, recipe)
      if let service = try answer(of: first.entry, recipe) { return service }
      refusals.append((first.entry.source, "its accessor makes another type"))
    }
    return nil
  }

  /// Returns the entry that answers. Makes nothing.
  mutating func choose() throws(ServiceError) -> Candidate? {
    var candidates = candidates()[...]
    return try takeFirst(of: &candidates)
  }

  /// Takes the best candidate; throws if another is as good.
  private func takeFirst(of others: inout ArraySlice<Candidate>) throws(ServiceError) -> Candidate?
  {
    guard let first = others.popFirst() else { return nil }
    let rivals = others.filter { $0.isCertain && $0.priority == first.priority }
    if first.isCertain, !rivals.isEmpty { throw ambiguity([first] + rivals) }
    return first
  }

  /// The kept answer of an earlier lookup: a recipe, or a miss.
  private var found: CachedService? {
    hive.cache.object(at: LookupCache.recipeKey(key), name: name)
  }

  /// Returns the service by the kept answer of an earlier lookup, if that still holds. Throws if the answer is a miss.
  @inline(__always)
  func again(_ found: CachedService?) throws(ServiceError) -> Service? {
    if let known = (found ?? self.found) as? CachedRecipe<Service> {
      return try answer(of: known.entry, known.make)
    }
    try missAgain()
    return nil
  }

  /// Throws the miss of an earlier lookup, if it still holds.
  func missAgain() throws(ServiceError) {
    // Before reporting a miss again, ask the loader for new images, as at the first time. Images that another thread
    // merged take the miss away.
    guard let miss = found as? CachedValue<ServiceError>, !hive.catchUp(probing: true),
      found === miss, hive.supplier.withLock({ $0 == nil })
    else { return }
    var error = miss.value
    error.hint = hint(for: error)
    throw error
  }

  /// Returns every service, whatever its name, the largest priority first. Includes scoped services if there is a
  /// scope.
  func all() throws(ServiceError) -> [Service] {
    hive.catchUp(probing: true)
    var (lookup, services) = (self, [Service]())
    for candidate in lookup.fitting() where scope != nil || candidate.entry.scope != .scoped {
      let recipe = recipe(candidate.provider)
      if let service = try lookup.instance(of: candidate.entry, { try recipe(hive) }) {
        services.append(service)
      }
    }
    return services
  }

  /// Finds the entries that could make the type, each with its implementing type if known. Makes nothing.
  func implementations() -> [(entry: RegisteredEntry, type: Any.Type?)] {
    hive.catchUp(probing: true)
    var lookup = self
    return lookup.fitting().map { candidate in
      switch candidate.provider {
      case .closure(let factory):
        // A protocol implements nothing: only the factory knows what it makes.
        (
          candidate.entry,
          ExistentialLayout.isProtocol(factory.serviceType) ? nil : factory.serviceType
        )
      case .accessor: (candidate.entry, implementation(named: candidate.entry.implementation))
      case .structure: (candidate.entry, nil)
      }
    }
  }

  /// Returns the type that an annotation names, if it can serve.
  private func implementation(named name: String?) -> Any.Type? {
    guard let name, let type, case .found(let found) = TypeLookup.type(named: TypeName(name)),
      Conformance.of(found, to: type) == .holds
    else { return nil }
    return found
  }

  /// Returns the entries that can or may answer, the largest priority first, then in order. With a given name, only
  /// those that have it. An override of the task replaces the entry that answers to its name.
  mutating func fitting(given name: String? = nil) -> [Candidate] {
    var found: [Candidate] = []
    let names = names
    let services = hive.state.withLock { $0.table.services(named: names, of: type, given: name) }
    version = services.version
    overrides = type == nil ? [] : ServiceScope.overrides(of: hive)
    for entry in services.entries.sorted(by: { $0.answersBefore($1) }) {
      switch hive.boundProgress(of: entry, asked: type) {
      case .bound(let provider):
        let fitness = fitness(of: provider, of: entry)
        if case .fails(let reason) = fitness {
          refusals.append((entry.source, reason))
        } else {
          found.append((entry, provider, fitness == .holds, entry.attributes.priority))
        }
      case .accepted(let problem):
        mayChange = true
        refusals.append((entry.source, problem.message))
      case .rejected(let problem):
        refusals.append((entry.source, (type == nil ? "rejected, since " : "") + problem.message))
      }
    }
    place(overridesOf: names, given: name, among: &found)
    return found
  }

  /// Returns the entries that may answer. Without a name, prefers entries without a name to all.
  mutating func candidates() -> [Candidate] {
    refusals = []
    let found = fitting(given: name)
    guard name == nil else { return found }
    let unnamed = found.filter { $0.entry.attributes.name == nil }
    return unnamed.isEmpty ? found : unnamed
  }

  /// Returns whether an entry can make the wanted service.
  private func fitness(of provider: Provider, of entry: RegisteredEntry) -> Conformance {
    guard let type else {
      if case .structure = provider { return .holds }
      return .fails(
        "it is written in Swift; look it up by type, or offer C a table: BEEHIVE_SERVICE")
    }
    switch provider {
    case .structure: return .fails("it is written in C; look it up by name")
    case .accessor(let accessor):
      // The accessor tells only by making an instance or refusing.
      guard let service = accessor.service else { return .undecided("only its accessor knows") }
      return service == ObjectIdentifier(type as Any.Type)
        ? .holds : .fails("its accessor makes another type of that name")
    case .closure(let factory):
      if let needed = factory.parameter {
        guard let parameter else {
          return .fails("its factory needs a \(needed.type.unqualified); ask with one")
        }
        guard needed.accepts(parameter) else {
          let given = TypeSpelling.of(Swift.type(of: parameter as Any)).qualified
          return .fails("its factory takes a \(needed.type.qualified), and was given a \(given)")
        }
      }
      if factory.load != nil, !isPatient, !isLoaded(entry) {
        return .fails("it is made asynchronously; ask with `await hive.load(…)`")
      }
      if factory.service == ObjectIdentifier(type as Any.Type) { return .holds }
      return Conformance.of(factory.serviceType, to: type)
    }
  }

  /// Returns whether a singleton that is made asynchronously is there.
  private func isLoaded(_ entry: RegisteredEntry) -> Bool {
    entry.scope == .singleton && (try? keeper(of: entry))?.instance != nil
  }

  // MARK: Making

  /// Returns the service of a Swift entry, kept as the answer if it is the same for all; nil if it refuses the type.
  @inline(__always)
  private func answer(
    of entry: RegisteredEntry, _ recipe: Recipe
  ) throws(ServiceError) -> Service? {
    let service = try instance(of: entry) { try recipe(hive) }
    // A singleton made with a parameter is not shared with lookups that pass none.
    if let service, entry.scope == .singleton, parameter == nil, overrides.isEmpty {
      publish(CachedValue(service, name: name), for: key, of: entry)
    }
    return service
  }

  /// Returns the result of `make`, made once or anew as the scope says; nil if it makes nothing. The error names the
  /// entry.
  // Inlined: each function that holds a `Service?` asks the runtime for its metadata.
  @inline(__always)
  func instance(
    of entry: RegisteredEntry, in kind: Scope? = nil, _ make: () throws -> Service?
  ) throws(ServiceError) -> Service? {
    func made() throws(ServiceError) -> Service? {
      do { return try make() } catch { throw .thrown(error, by: entry) }
    }
    let kind = kind ?? entry.scope
    if kind == .transient {
      return try Creation.make(Creation.Step(entry: entry, scope: scope), made)
    }
    let scope = kind == .scoped ? scope : nil
    let kept = try keeper(of: entry).get(in: scope) { () throws(ServiceError) -> CachedService? in
      try made().map { CachedValue($0, name: name) }
    }
    return (kept as? CachedValue<Service>)?.value ?? kept?.value(as: Service.self)
  }

  /// Returns the cell that keeps the instance of an entry: of the scope, of the task's override, or of the Hive.
  func keeper(of entry: RegisteredEntry) throws(ServiceError) -> Singleton {
    if entry.scope == .scoped {
      guard let scope else { throw .unscoped(entry) }
      guard let cell = scope.cell(of: entry) else { throw .ended(entry) }
      return cell
    }
    if let cell = overrides.first?.scope.cell(of: entry) { return cell }
    let cell: Singleton? = hive.state.withLock { state in
      entry.isWithdrawn ? nil : state.instances.cell(of: entry)
    }
    guard let cell else { throw .gone(entry) }
    return cell
  }

  /// Returns the recipe of a provider for the service; the recipe answers nil if it makes something else.
  func recipe(_ provider: Provider) -> Recipe {
    guard let type else { return { _ in nil } }
    switch provider {
    case .accessor(let accessor):
      return { _ in accessor.make(as: type) }
    case .closure(let factory):
      if let typed = factory.typed(as: type) { return typed }
      return { [parameter] hive in try factory.make(hive, parameter) as? Service }
    case .structure: return { _ in nil }
    }
  }

  /// Keeps the recipe of a service that each lookup makes anew, unless an entry that is still unbound may come before
  /// it later.
  private func remember(_ found: Candidate, _ recipe: @escaping Recipe) {
    guard found.isCertain, found.entry.scope != .singleton, parameter == nil, !mayChange,
      overrides.isEmpty
    else { return }
    let cached = CachedRecipe(found.entry, name: name, recipe)
    publish(cached, for: LookupCache.recipeKey(key), of: found.entry)
  }

  /// Keeps an answer for later lookups, as `State.publish` does.
  func publish(_ answer: CachedService, for key: UInt, of entry: RegisteredEntry?) {
    // Spelled before the lock is taken.
    let names = names
    hive.state.withLock {
      $0.publish(answer, for: key, of: entry, named: names, version: version, cache: hive.cache)
    }
    hive.cache.collect()
  }
}

/// The entry that answers a lookup whose service is made anew each time: for `LookupCache.recipeKey`.
final class CachedRecipe<Service: Sendable>: CachedService, @unchecked Sendable {
  // Sound: immutable, and so is its superclass.
  let entry: RegisteredEntry
  let make: @Sendable (Hive) throws -> Service?

  init(
    _ entry: RegisteredEntry, name: String?, _ make: @escaping @Sendable (Hive) throws -> Service?
  ) {
    self.entry = entry
    self.make = make
    super.init(name: name)
  }
}
