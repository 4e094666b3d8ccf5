internal import BinaryImage
internal import Registration
internal import Threads

/// One lookup of a C service by its name: which entry answers, and with what address.
struct CServiceLookup {
  private let service: String
  private let name: String?
  /// The bytes of the table that the caller knows; 0 where only C knows its layout.
  private let size: Int
  /// See `ServiceLookup.scope`.
  private let scope: ServiceScope?
  private let hive: Hive
  /// Where lookups find what is the same for all without a lock. The size belongs to the question: a
  /// table may be long enough for one caller alone.
  private let spelling: String
  private let key: UInt

  init<Pointer>(
    _ service: String, name: String?, as type: Pointer.Type, size: Int = 0,
    scope: ServiceScope? = nil, hive: Hive
  ) {
    (self.service, self.name, self.size) = (service, name, size)
    self.scope = scope ?? Creation.scope(of: hive)
    self.hive = hive
    spelling = "\(service)\0\(name.map { "=\($0)" } ?? "")\0\(size)"
    key = LookupCache.key(of: type, name: spelling)
  }

  /// The address as the pointer that the caller wants.
  func pointer<Pointer>(_ make: (UInt) -> Pointer?) throws(ServiceError) -> Pointer {
    guard let pointer = make(try address().rawValue) else {
      throw ServiceError(.unusable, service: service, message: "its provider answered null")
    }
    return pointer
  }

  /// The address that the service is found at.
  func address() throws(ServiceError) -> RuntimeAddress {
    if let made: RuntimeAddress = hive.made(at: key, name: spelling) { return made }
    hive.catchUp(probing: false)
    if let found = try answer() { return found }
    // Another thread may be the one that has found what is new.
    hive.catchUp(probing: true)
    if let found = try answer() { return found }
    throw hive.cFailure(service, name: name)
  }

  private func answer() throws(ServiceError) -> RuntimeAddress? {
    search: for _ in 0..<Self.mostTurns {
      let candidates = hive.cCandidates(of: service, name: name)
      for candidate in candidates.entries {
        if let address = try answer(of: candidate, among: candidates) { return address }
        continue search
      }
      return nil
    }
    throw ServiceError(
      .unusable, service: service,
      message:
        "it was removed, or the Hive stopped, each time that it was made; stop the Hive from "
        + "elsewhere than its factory")
  }

  /// How often what was made may be taken back before it was handed out.
  private static let mostTurns = 100

  /// Hands out what a candidate makes; nil where it was removed, or the Hive stopped, while it answered.
  private func answer(
    of candidate: CCandidate, among candidates: CCandidates
  ) throws(ServiceError) -> RuntimeAddress? {
    let entry = candidate.entry
    guard let made = try make(candidate, entry.scope) else { return nil }
    if made.isOfScope { return made.address }
    let isHandedOut = hive.handOut(entry, made.object, made.kept, at: candidates.turn) { state in
      guard made.object == nil else { return }
      state.publish(
        CachedValue(made.address, name: spelling), for: key, of: entry,
        named: [entry.name], version: candidates.version, cache: hive.cache)
    }
    hive.cache.collect()
    if isHandedOut { return made.address }
    // Nothing may be left that nobody knows of.
    let left = made.own ?? hive.state.withLock { $0.takeUnlessHandedOut(entry) }
    left?.destroy()
    return nil
  }

  /// Reads a candidate's structure; makes what a factory makes, and destroys it.
  func check(_ candidate: CCandidate) throws(ServiceError) {
    try make(candidate, .transient)?.own?.destroy()
  }

  // MARK: Making

  /// What a candidate makes: a table, or what its factory makes.
  private struct Made {
    let address: RuntimeAddress
    /// What its asker gives back; nil for what every asker gets until the Hive stops.
    var object: RuntimeAddress?
    /// What is for this request alone.
    var own: CInstance?
    /// What is for all requests.
    var kept: CachedService?
    /// Whether a scope keeps it.
    var isOfScope = false
  }

  /// What a candidate makes, as `kept` says; nil where its entry has left meanwhile.
  private func make(
    _ candidate: CCandidate, _ kept: Scope
  ) throws(ServiceError) -> Made? {
    let entry = candidate.entry
    guard candidate.structure == .factory else { return Made(address: try table(of: candidate)) }
    let factory = try read(ForeignCall.factory(at: candidate.address, in: entry.memory), entry)
    switch kept {
    case .transient:
      let step = Creation.Step(entry: entry, scope: scope)
      let own = try Creation.make(step) { () throws(ServiceError) in try create(entry, factory) }
      return Made(address: own.address, object: own.address, own: own)
    case .singleton, .weak:
      let made = try instance(in: entry.singleton, of: entry) { () throws(ServiceError) in
        try create(entry, factory)
      }
      return made.map { made in
        let address = made.value.address
        return Made(address: address, object: kept == .weak ? address : nil, kept: made)
      }
    case .scoped:
      guard let scope else { throw .unscoped(entry, neededBy: Creation.keeper) }
      let made = try instance(in: scope.cell(of: entry), of: entry, scope) {
        () throws(ServiceError) in try create(entry, factory, in: scope)
      }
      return made.map { Made(address: $0.value.address, isOfScope: true) }
    }
  }

  private func table(of candidate: CCandidate) throws(ServiceError) -> RuntimeAddress {
    let entry = candidate.entry
    let table = try read(ForeignCall.serviceTable(at: candidate.address, in: entry.memory), entry)
    guard table.size >= size else {
      throw ServiceError(
        .tooSmall, entry,
        "\(entry.source) has a table of \(table.size) bytes where \(size) are expected; rebuild it "
          + "against the newer header")
    }
    return table.address
  }

  /// The one instance of a cell; nil where its entry has left meanwhile.
  private func instance(
    in cell: Singleton, of entry: RegisteredEntry, _ scope: ServiceScope? = nil,
    _ create: () throws(ServiceError) -> CInstance
  ) throws(ServiceError) -> CachedValue<CInstance>? {
    let made = try cell.get(for: entry, in: scope) { () throws(ServiceError) in
      CachedValue(try create(), name: nil)
    }
    return made as? CachedValue<CInstance>
  }

  /// Makes an instance that lives until `scope` ends.
  private func create(
    _ entry: RegisteredEntry, _ factory: CFactory, in scope: ServiceScope
  ) throws(ServiceError) -> CInstance {
    let instance = try create(entry, factory)
    // Its factory may have ended the scope, or another thread.
    guard scope.atEnd({ instance.destroy() }) else { throw .ended(entry) }
    return instance
  }

  private func create(
    _ entry: RegisteredEntry, _ factory: CFactory
  ) throws(ServiceError) -> CInstance {
    let context = hive.state.withLock { $0.context } ?? Context(hive: hive)
    CError.forget()
    if let object = ForeignCall.create(factory, context) {
      return CInstance(address: object, factory: factory)
    }
    let reason = CError.text
    throw ServiceError(
      .creationFailed, entry,
      "the factory of \(entry.source) answered null"
        + (reason.isEmpty ? "" : ", having been told: \(reason)"))
  }

  /// What a record's structure says; an unusable one turns its entry into a rejected one.
  private func read<Value>(
    _ result: Result<Value, Problem>, _ entry: RegisteredEntry
  ) throws(ServiceError) -> Value {
    do throws(Problem) { return try result.get() } catch {
      hive.state.withLock { _ in entry.progress = .rejected(error) }
      throw ServiceError(.unusable, entry, "\(entry.source): \(error)")
    }
  }
}
