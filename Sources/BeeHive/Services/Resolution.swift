internal import Registration

/// One lookup by Swift type: which entry answers, and why the others do not.
struct Resolution<Service: Sendable> {
  let type: Service.Type
  let name: String?
  /// What the factory is given.
  let parameter: (any Sendable)?
  /// Who keeps the instances of scoped services: the one that was asked, or for which the calling
  /// thread is making what needs this.
  let scope: ServiceScope?
  let hive: Hive
  /// Whether the asker waits for services that are made by and by.
  var isPatient = false
  /// What was looked at and why it cannot serve.
  private var refusals: [(source: Source, reason: String)] = []
  /// What the Hive held when it was looked at.
  private var version = 0
  /// Whether an entry that nothing makes yet was passed over.
  private var mayChange = false

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

  /// Whether an entry can make the type.
  private enum Fitness {
    case fits
    /// Only its accessor knows, and tells by making one or refusing.
    case perhaps
    case refused(String)
  }

  struct Candidate {
    let entry: RegisteredEntry
    let provider: Provider
    let isCertain: Bool
  }

  /// The service; nil where no entry serves, and `failure` says why.
  mutating func run() throws(ServiceError) -> Service? {
    refusals = []
    var candidates = named(fitting(given: name))
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
    refusals = []
    let candidates = named(fitting(given: name))
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

  /// The service by what a lookup before this one found, if that still holds.
  func again() throws(ServiceError) -> Service? {
    let found = hive.cache.object(at: LookupCache.recipeKey(key), name: name)
    guard let known = found as? CachedRecipe<Service> else { return nil }
    return try instance(of: known.entry, known.make)
  }

  /// Every service that can be had, larger priority first, whatever its name: those that need a scope
  /// where there is one.
  mutating func all() throws(ServiceError) -> [Service] {
    refusals = []
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
      case .injectable(let type): (candidate.entry, type)
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

  /// The entries that can or may make the type: overrides, the latest first, then larger priority,
  /// then in order. With a given name, those that have it alone.
  private mutating func fitting(given name: String? = nil) -> [Candidate] {
    var found: [Candidate] = []
    let names = ServiceNames.of(type).all
    let services = hive.services(named: names, given: name)
    version = services.version
    let ofTask = TaskOverride.entries(of: hive).filter {
      names.contains($0.name) && (name == nil || $0.attributes.name == name)
    }
    for entry in ofTask + services.entries {
      let progress = hive.boundProgress(of: entry)
      switch progress {
      case .bound(let provider):
        switch fitness(of: provider, of: entry) {
        case .fits: found.append(Candidate(entry: entry, provider: provider, isCertain: true))
        case .perhaps: found.append(Candidate(entry: entry, provider: provider, isCertain: false))
        case .refused(let reason): refusals.append((entry.source, reason))
        }
      case .accepted(let problem):
        mayChange = true
        refusals.append((entry.source, problem.message))
      case .rejected(let problem): refusals.append((entry.source, problem.message))
      }
    }
    return found.sorted {
      if $0.entry.isOverride || $1.entry.isOverride {
        guard $0.entry.isOverride, $1.entry.isOverride else { return $0.entry.isOverride }
        return $0.entry.order > $1.entry.order
      }
      let (a, b) = ($0.entry.attributes.priority, $1.entry.attributes.priority)
      return a != b ? a > b : $0.entry.order < $1.entry.order
    }
  }

  /// Without a name, those without a name, else all.
  private func named(_ found: [Candidate]) -> [Candidate] {
    guard name == nil else { return found }
    let unnamed = found.filter { $0.entry.attributes.name == nil }
    return unnamed.isEmpty ? found : unnamed
  }

  private func fitness(of provider: Provider, of entry: RegisteredEntry) -> Fitness {
    switch provider {
    case .structure: return .refused("it is written in C; look it up by name")
    case .module: return .refused("it is a module")
    case .accessor(let accessor):
      guard let service = accessor.service else { return .perhaps }
      return service == ObjectIdentifier(type as Any.Type)
        ? .fits : .refused("its accessor makes another type of that name")
    case .injectable(let implementation): return conformance(of: implementation)
    case .closure(let factory):
      if let needed = factory.parameter {
        guard let parameter else {
          return .refused("its factory needs a \(needed.unqualified); ask with one")
        }
        guard factory.takes(parameter) else { return wrong(parameter, needed) }
      }
      if factory.load != nil, !isPatient, !isLoaded(entry) {
        return .refused("it is made asynchronously; ask with `await hive.load(…)`")
      }
      if factory.service == ObjectIdentifier(type as Any.Type) { return .fits }
      return conformance(of: factory.serviceType())
    }
  }

  /// Whether a singleton that is made by and by is there.
  private func isLoaded(_ entry: RegisteredEntry) -> Bool {
    entry.scope == .singleton && keeper(of: entry).instance != nil
  }

  /// Where the instance of a singleton is kept: for the current task where that has an override.
  func keeper(of entry: RegisteredEntry) -> Singleton {
    TaskOverride.of(hive)?.cell(of: entry) ?? entry.singleton
  }

  private func wrong(_ parameter: any Sendable, _ needed: TypeSpelling) -> Fitness {
    let given = TypeSpelling.of(Swift.type(of: parameter as Any))
    let isClear = needed.unqualified != given.unqualified
    return .refused(
      "its factory takes a \(isClear ? needed.unqualified : needed.qualified), and was given a "
        + "\(isClear ? given.unqualified : given.qualified)")
  }

  private func conformance(of implementation: Any.Type) -> Fitness {
    switch Conformance.of(implementation, to: type) {
    case .holds: .fits
    case .fails(let reason): .refused(reason)
    case .undecided: .perhaps
    }
  }

  /// The instance that an entry makes, as its scope says; nil where it refuses the type.
  func instance(of entry: RegisteredEntry, _ recipe: Recipe) throws(ServiceError) -> Service? {
    let scope = entry.scope == .singleton || entry.scope == .weak ? nil : scope
    let cell: Singleton
    switch entry.scope {
    case .transient:
      return try Creation.make(Creation.Step(entry: entry, scope: scope)) {
        () throws(ServiceError) in try make(entry, recipe)
      }
    case .singleton, .weak: cell = keeper(of: entry)
    case .scoped:
      guard let scope else { throw .unscoped(entry, neededBy: Creation.keeper) }
      guard let kept = scope.cell(of: entry) else { throw .ended(entry) }
      cell = kept
    }
    let made = try cell.get(for: entry, in: scope) { () throws(ServiceError) -> CachedService? in
      guard let value = try make(entry, recipe) else { return nil }
      if let scope, let value = value as? any Disposable { scope.atEnd { value.dispose() } }
      if scope == nil { hive.noteMade(entry) }
      return CachedValue<Service>(value, name: name)
    }
    guard let typed = made as? CachedValue<Service> else { return nil }
    // What a parameter made is the instance too, but a lookup without one has no right to it.
    guard entry.scope == .singleton, parameter == nil else { return typed.value }
    hive.publish(CachedValue(typed.value, name: name), for: key, of: entry, version: version)
    return typed.value
  }

  /// Runs a factory; what it throws names its entry.
  private func make(_ entry: RegisteredEntry, _ recipe: Recipe) throws(ServiceError) -> Service? {
    do {
      return try recipe(hive)
    } catch let error as ServiceError where error.code == .cycle {
      throw error
    } catch {
      throw ServiceError(
        .creationFailed, service: entry.name,
        message: "\(entry.source) failed to make it: \(error)",
        sources: [entry.source], underlying: error)
    }
  }

  /// How a provider makes the service; the recipe answers nil where it makes something else.
  private func recipe(_ provider: Provider) -> Recipe {
    switch provider {
    case .accessor(let accessor):
      return { [type] _ in ForeignCall.make(accessor, as: type) }
    case .injectable(let implementation):
      return { hive in try implementation.init(hive: hive) as? Service }
    case .closure(let factory):
      if let typed = factory.typed(as: type) { return typed }
      return { [parameter] hive in try factory.make(hive, parameter) as? Service }
    case .structure, .module: return { _ in nil }
    }
  }

  private var key: UInt {
    name.map { LookupCache.key(of: type, name: $0) } ?? LookupCache.key(of: type)
  }

  /// Keeps who makes a service that each lookup makes anew; not where an entry that nothing makes
  /// today may come before it tomorrow.
  private func remember(_ found: Candidate, _ recipe: @escaping Recipe) {
    guard found.isCertain, found.entry.scope != .singleton, parameter == nil, !mayChange else {
      return
    }
    hive.publish(
      CachedRecipe(found.entry, name: name, recipe), for: LookupCache.recipeKey(key),
      of: found.entry, version: version)
  }

  private func ambiguity(_ candidates: [Candidate]) -> ServiceError {
    let places = candidates.map(\.entry.source)
    return ServiceError(
      .ambiguous, service: spelling,
      message: "\(Source.told(apart: places).joined(separator: " and ")) both provide it; "
        + "give one of them a name or a priority",
      sources: places)
  }

  private var spelling: String {
    ServiceNames.of(type).unqualified + (name.map { " named \($0)" } ?? "")
  }

  /// Adds those that would serve but for their names.
  private mutating func addOtherNames() {
    guard let name else { return }
    let known = refusals
    let others = fitting().filter { $0.entry.attributes.name != name }
    refusals =
      known
      + others.map { other in
        (other.entry.source, other.entry.attributes.name.map { "is named \($0)" } ?? "has no name")
      }
  }

  /// Why `run` found nothing.
  mutating func failure() -> ServiceError {
    addOtherNames()
    guard !refusals.isEmpty else {
      let (hive, wanted) = (hive, ServiceNames.of(type).qualified)
      var error = ServiceError(
        .notFound, service: spelling,
        message: "nothing that is loaded provides it; link or dlopen the library that does, or "
          + "register it")
      error.hint = { hive.servicesLike(wanted) }
      return error
    }
    let told = refusals.prefix(16)
    var reasons = zip(Source.told(apart: told.map(\.source)), told).map { "\($0): \($1.reason)" }
    if refusals.count > told.count { reasons.append("and \(refusals.count - told.count) more") }
    var error = ServiceError(
      .unusable, service: spelling,
      message: "none of what names it can serve: \(reasons.joined(separator: "; "))"
        + TypeCopies.remark(on: type as Any.Type),
      sources: refusals.map(\.source))
    let (hive, wanted) = (hive, ServiceNames.of(type))
    if let name { error.hint = { hive.givenNamesLike(name, of: wanted) } }
    return error
  }
}
