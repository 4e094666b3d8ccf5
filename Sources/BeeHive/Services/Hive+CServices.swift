internal import BinaryImage
internal import Registration
internal import Threads

extension Hive {
  /// The C table that is registered as this service: `BEEHIVE_SERVICE`, `BEEHIVE_SERVICE_FACTORY`.
  ///
  /// Refused where the provider's table is smaller than `Table`, so that a host never reads past its
  /// end. The image that holds it stays loaded from now on, until the service is removed or the Hive
  /// stops: from then on the pointer must not be used. What a transient factory made is given back with
  /// `destroy`.
  public func service<Table>(
    _ service: String, name: String? = nil, as type: UnsafePointer<Table>.Type
  ) throws(ServiceError) -> UnsafePointer<Table> {
    let size = MemoryLayout<Table>.size
    let address = try unsafe cService(service, name: name, as: type, size: size)
    guard let pointer = unsafe UnsafePointer<Table>(bitPattern: address.rawValue) else {
      throw ServiceError(.unusable, service: service, message: "its provider answered null")
    }
    return unsafe pointer
  }

  /// The C service of this name, for structures whose layout only C knows.
  public func service(
    _ service: String, name: String? = nil, as type: OpaquePointer.Type
  ) throws(ServiceError) -> OpaquePointer {
    let address = try unsafe cService(service, name: name, as: type, size: 0)
    guard let pointer = unsafe OpaquePointer(bitPattern: address.rawValue) else {
      throw ServiceError(.unusable, service: service, message: "its provider answered null")
    }
    return unsafe pointer
  }

  /// Gives back what a transient C factory made; false if no such factory is registered.
  @discardableResult
  public func destroy<Table>(
    _ pointer: UnsafePointer<Table>, of service: String, name: String? = nil
  )
    -> Bool
  {
    destroy(RuntimeAddress(rawValue: UInt(bitPattern: pointer)), of: service, name: name)
  }

  func destroy(_ object: RuntimeAddress, of service: String, name: String?) -> Bool {
    for candidate in cCandidates(of: service, name: name).entries {
      guard candidate.structure == .factory, candidate.entry.scope == .transient else { continue }
      let isDone = holding(candidate.entry) {
        guard
          case .success(let factory) = ForeignCall.factory(
            at: candidate.address, in: candidate.entry.memory)
        else { return false }
        ForeignCall.destroy(object, with: factory)
        return true
      }
      if isDone == true { return true }
    }
    return false
  }

  private struct CEntry {
    let entry: RegisteredEntry
    let structure: CStructure
    let address: RuntimeAddress
  }

  /// The C services of a name, and what the Hive was when they were looked up.
  private struct CCandidates {
    /// Larger priority first, then in order.
    var entries: [CEntry]
    /// See `EntryTable.version`.
    var version: Int
    /// See `HandedOut.turn`.
    var turn: Int
  }

  private func cCandidates(of service: String, name: String?) -> CCandidates {
    var candidates = state.withLock { state in
      CCandidates(
        entries: state.table.services(named: service).compactMap { entry in
          guard case .structure(let structure, let address) = entry.provider else { return nil }
          return CEntry(entry: entry, structure: structure, address: address)
        }, version: state.table.version, turn: state.handedOut.turn)
    }
    let found = candidates.entries
    let named = found.filter { $0.entry.attributes.name == name }
    candidates.entries = (named.isEmpty && name == nil ? found : named).sorted {
      let (a, b) = ($0.entry.attributes.priority, $1.entry.attributes.priority)
      return a != b ? a > b : $0.entry.order < $1.entry.order
    }
    return candidates
  }

  /// The address that a C service is found at; kept where lookups find it without a lock.
  func cService<Pointer>(
    _ service: String, name: String?, as type: Pointer.Type, size: Int
  ) throws(ServiceError) -> RuntimeAddress {
    // The size belongs to the question: a table may be long enough for one caller alone.
    let spelling = "\(service)\0\(name ?? "")\0\(size)"
    let request = CRequest(
      service: service, name: name, size: size, spelling: spelling,
      key: LookupCache.key(of: type, name: spelling))
    if let made: RuntimeAddress = made(at: request.key, name: spelling) { return made }
    catchUp(probing: false)
    if let found = try answer(request) { return found }
    if catchUp(probing: true), let found = try answer(request) { return found }
    throw cFailure(service, name: name)
  }

  /// What is asked for, and where the answer is kept.
  private struct CRequest {
    let service: String
    let name: String?
    let size: Int
    let spelling: String
    let key: UInt
  }

  /// What a candidate answers.
  private enum CAnswer {
    case found(RuntimeAddress)
    /// It was removed, or the Hive stopped, while it answered.
    case takenBack
  }

  private func answer(_ request: CRequest) throws(ServiceError) -> RuntimeAddress? {
    search: while true {
      let candidates = cCandidates(of: request.service, name: request.name)
      for candidate in candidates.entries {
        // An image that has just gone takes its entries along.
        let answer = try holding(candidate.entry) { () throws(ServiceError) in
          try self.answer(of: candidate, among: candidates, request)
        }
        switch answer {
        case .found(let address): return address
        case .takenBack: continue search
        case nil: continue
        }
      }
      return nil
    }
  }

  /// Hands out what a candidate makes. Its image stays mapped meanwhile.
  private func answer(
    of candidate: CEntry, among candidates: CCandidates, _ request: CRequest
  ) throws(ServiceError) -> CAnswer {
    let entry = candidate.entry
    let (address, instance, kept) =
      candidate.structure == .serviceTable
      ? (try table(of: candidate, size: request.size), nil, nil) : try made(by: candidate)
    let isShared = candidate.structure == .serviceTable || entry.scope == .singleton
    let answer = isShared ? CachedValue(address, name: request.spelling) : nil
    let isHandedOut = handOut(entry, kept, at: candidates.turn) { state in
      guard let answer else { return }
      state.publish(
        answer, for: request.key, of: entry, version: candidates.version, cache: cache)
    }
    cache.collect()
    if isHandedOut { return .found(address) }
    // Nothing may be left that no one is told of: its image may go.
    let left = instance ?? state.withLock { $0.takeUnlessHandedOut(entry) }
    left?.destroy()
    return .takenBack
  }

  private func table(of candidate: CEntry, size: Int) throws(ServiceError) -> RuntimeAddress {
    let table = try read(
      ForeignCall.serviceTable(at: candidate.address, in: candidate.entry.memory), of: candidate)
    guard table.size >= size else {
      throw ServiceError(
        .tooSmall, service: candidate.entry.name,
        message: "\(candidate.entry.source) has a table of \(table.size) bytes where \(size) are "
          + "expected; rebuild it against the newer header",
        sources: [candidate.entry.source])
    }
    return table.address
  }

  /// What a factory makes: for this request alone, or kept for all.
  private func made(
    by candidate: CEntry
  ) throws(ServiceError) -> (RuntimeAddress, CInstance?, CachedService?) {
    let factory = try read(
      ForeignCall.factory(at: candidate.address, in: candidate.entry.memory), of: candidate)
    let entry = candidate.entry
    guard entry.scope == .singleton else {
      let step = Creation.Step(entry: entry, scope: Creation.scope(of: self))
      let address = try Creation.make(step) { () throws(ServiceError) in
        try create(entry, factory)
      }
      return (address, CInstance(address: address, factory: factory), nil)
    }
    let made = try entry.singleton.get(for: entry) { () throws(ServiceError) in
      CachedValue(CInstance(address: try create(entry, factory), factory: factory), name: nil)
    }
    guard let instance = made as? CachedValue<CInstance> else {
      throw ServiceError(
        .unusable, service: entry.name, message: "\(entry.source) made no C object")
    }
    return (instance.value.address, nil, instance)
  }

  private func create(
    _ entry: RegisteredEntry, _ factory: CFactory
  ) throws(ServiceError) -> RuntimeAddress {
    let context = state.withLock { $0.context } ?? Context(hive: self)
    if let object = ForeignCall.create(factory, context) { return object }
    throw ServiceError(
      .creationFailed, service: entry.name, message: "the factory of \(entry.source) answered null",
      sources: [entry.source])
  }

  /// What a record's structure says; an unusable one turns its entry into a rejected one.
  private func read<Value>(
    _ result: Result<Value, Problem>, of candidate: CEntry
  ) throws(ServiceError) -> Value {
    switch result {
    case .success(let value): return value
    case .failure(let problem):
      state.withLock { _ in candidate.entry.progress = .rejected(problem) }
      throw ServiceError(
        .unusable, service: candidate.entry.name, message: "\(candidate.entry.source): \(problem)",
        sources: [candidate.entry.source])
    }
  }
}

/// What a C factory made, and how it is given back.
struct CInstance: Sendable {
  let address: RuntimeAddress
  let factory: CFactory

  /// Gives it back. With no lock held.
  func destroy() { ForeignCall.destroy(address, with: factory) }
}

extension RegisteredEntry {
  /// Takes out what a C factory made for all, for the caller to destroy; nil where there is nothing.
  func takeInstance() -> CInstance? {
    guard isC else { return nil }
    return (existingSingleton?.take() as? CachedValue<CInstance>)?.value
  }
}
