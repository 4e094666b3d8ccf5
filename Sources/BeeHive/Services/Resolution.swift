internal import Registration

/// One lookup by Swift type: which entry answers, and why the others do not.
struct Resolution<Service: Sendable> {
  let type: Service.Type
  let name: String?
  /// What the factory is given.
  let parameter: (any Sendable)?
  /// Who keeps the instances of scoped services.
  let scope: ServiceScope?
  let hive: Hive
  /// What was looked at and why it cannot serve.
  private var refusals: [(source: Source, reason: String)] = []
  /// What the Hive held when it was looked at.
  private var version = 0

  init(
    type: Service.Type, name: String?, parameter: (any Sendable)? = nil,
    scope: ServiceScope? = nil, hive: Hive
  ) {
    self.type = type
    self.name = name
    self.parameter = parameter
    self.scope = scope
    self.hive = hive
  }

  /// Whether an entry can make the type.
  private enum Fitness {
    case fits
    /// Only its accessor knows, and tells by making one or refusing.
    case perhaps
    case refused(String)
  }

  private struct Candidate {
    let entry: RegisteredEntry
    let provider: Provider
    let isCertain: Bool
  }

  /// The service; nil where no entry serves, and `failure` says why.
  mutating func run() throws(ServiceError) -> Service? {
    refusals = []
    var candidates = named(fitting())
    while let first = candidates.first {
      if first.entry.isOverride { return try instance(of: first.entry, first.provider) }
      let rivals = candidates.filter {
        $0.isCertain && $0.entry.attributes.priority == first.entry.attributes.priority
          && $0.entry !== first.entry
      }
      if first.isCertain, !rivals.isEmpty { throw ambiguity([first] + rivals) }
      if let service = try instance(of: first.entry, first.provider) { return service }
      refusals.append((first.entry.source, "its accessor makes another type"))
      candidates.removeFirst()
    }
    return nil
  }

  /// Every service that can be had, larger priority first, whatever its name.
  mutating func all() throws(ServiceError) -> [Service] {
    refusals = []
    var services: [Service] = []
    for candidate in fitting() {
      if let service = try instance(of: candidate.entry, candidate.provider) {
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
  /// then in order.
  private mutating func fitting() -> [Candidate] {
    var found: [Candidate] = []
    let services = hive.services(named: ServiceNames.of(type).all)
    version = services.version
    for entry in services.entries {
      let progress = hive.boundProgress(of: entry)
      switch progress {
      case .bound(let provider):
        switch fitness(of: provider) {
        case .fits: found.append(Candidate(entry: entry, provider: provider, isCertain: true))
        case .perhaps: found.append(Candidate(entry: entry, provider: provider, isCertain: false))
        case .refused(let reason): refusals.append((entry.source, reason))
        }
      case .accepted(let problem), .rejected(let problem):
        refusals.append((entry.source, problem.message))
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

  /// Those with the name asked for; without one, those without a name, else all.
  private mutating func named(_ found: [Candidate]) -> [Candidate] {
    if let name {
      for other in found where other.entry.attributes.name != name {
        let registered = other.entry.attributes.name.map { "is named \($0)" } ?? "has no name"
        refusals.append((other.entry.source, registered))
      }
      return found.filter { $0.entry.attributes.name == name }
    }
    let unnamed = found.filter { $0.entry.attributes.name == nil }
    return unnamed.isEmpty ? found : unnamed
  }

  private func fitness(of provider: Provider) -> Fitness {
    switch provider {
    case .structure: return .refused("it is written in C; look it up by name")
    case .module: return .refused("it is a module")
    case .accessor(let accessor):
      guard let service = accessor.service else { return .perhaps }
      return service == ObjectIdentifier(type as Any.Type)
        ? .fits : .refused("its accessor makes another type of that name")
    case .injectable(let implementation): return conformance(of: implementation)
    case .closure(let factory):
      if let needed = factory.parameter, parameter == nil {
        return .refused("its factory needs a \(needed.unqualified); ask with one")
      }
      if factory.service == ObjectIdentifier(type as Any.Type) { return .fits }
      return conformance(of: factory.serviceType())
    }
  }

  private func conformance(of implementation: Any.Type) -> Fitness {
    switch Conformance.of(implementation, to: type) {
    case .holds: .fits
    case .fails(let reason): .refused(reason)
    case .undecided: .perhaps
    }
  }

  /// The instance that an entry makes, as its scope says; nil where it refuses the type.
  private func instance(
    of entry: RegisteredEntry, _ provider: Provider
  ) throws(ServiceError) -> Service? {
    let cell: Singleton
    switch entry.scope {
    case .transient:
      return try Creation.make(entry) { () throws(ServiceError) in try make(entry, provider) }
    case .singleton, .weak: cell = entry.singleton
    case .scoped:
      guard let scope else { throw .unscoped(entry) }
      cell = scope.cell(of: entry)
    }
    let key =
      name.map { LookupCache.key(of: type, name: $0) } ?? LookupCache.key(of: type)
    let made = try cell.get(for: entry) { () throws(ServiceError) -> CachedService? in
      guard let value = try make(entry, provider) else { return nil }
      return CachedValue<Service>(value, name: name)
    }
    guard let typed = made as? CachedValue<Service> else { return nil }
    // What a parameter made is the instance too, but a lookup without one has no right to it.
    guard entry.scope == .singleton, parameter == nil else { return typed.value }
    hive.publish(CachedValue(typed.value, name: name), for: key, of: entry, version: version)
    return typed.value
  }

  private func make(
    _ entry: RegisteredEntry, _ provider: Provider
  ) throws(ServiceError) -> Service? {
    do {
      switch provider {
      case .accessor(let accessor): return ForeignCall.make(accessor, as: type)
      case .injectable(let implementation): return try implementation.init(hive: hive) as? Service
      case .closure(let factory): return try factory.make(hive, parameter) as? Service
      case .structure, .module: return nil
      }
    } catch let error as ServiceError where error.code == .cycle {
      throw error
    } catch {
      throw ServiceError(
        .creationFailed, service: entry.name,
        message: "\(entry.source) failed to make it: \(error)",
        sources: [entry.source], underlying: error)
    }
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

  /// Why `run` found nothing.
  var failure: ServiceError {
    guard !refusals.isEmpty else {
      return ServiceError(
        .notFound, service: spelling,
        message: "nothing that is loaded provides it; link or dlopen the library that does, or "
          + "register it")
    }
    let reasons = refusals.map { "\($0.source): \($0.reason)" }.joined(separator: "; ")
    return ServiceError(
      .unusable, service: spelling, message: "none of what names it can serve: \(reasons)",
      sources: refusals.map(\.source))
  }
}
