internal import BinaryImage
internal import Registration
internal import Threads

extension Hive {
  /// The C table that is registered as this service: `BEEHIVE_SERVICE`, `BEEHIVE_SERVICE_FACTORY`.
  ///
  /// Refused where the provider's table is smaller than `Table`, so that a host never reads past its
  /// end. The image that holds it stays loaded from now on, until the service is removed. What a
  /// transient factory made is given back with `destroy`.
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
    for candidate in cEntries(of: service, name: name) where candidate.structure == .factory {
      guard candidate.entry.scope == .transient,
        case .success(let factory) = ForeignCall.factory(
          at: candidate.address, in: candidate.entry.memory)
      else { continue }
      let object = RuntimeAddress(rawValue: UInt(bitPattern: pointer))
      ForeignCall.destroy(object, with: factory)
      return true
    }
    return false
  }

  private struct CEntry {
    let entry: RegisteredEntry
    let structure: CStructure
    let address: RuntimeAddress
  }

  /// The C services of a name, larger priority first, then in order.
  private func cEntries(of service: String, name: String?) -> [CEntry] {
    let found = state.withLock { state -> [CEntry] in
      state.table.services(named: service).compactMap { entry in
        guard case .structure(let structure, let address) = entry.provider else { return nil }
        return CEntry(entry: entry, structure: structure, address: address)
      }
    }
    let named = found.filter { $0.entry.attributes.name == name }
    return (named.isEmpty && name == nil ? found : named).sorted {
      let (a, b) = ($0.entry.attributes.priority, $1.entry.attributes.priority)
      return a != b ? a > b : $0.entry.order < $1.entry.order
    }
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

  private func answer(_ request: CRequest) throws(ServiceError) -> RuntimeAddress? {
    let version = services(named: []).version
    for candidate in cEntries(of: request.service, name: request.name) {
      // From here on the image stays; one that has just gone takes its entries along.
      guard hold(candidate.entry) else { continue }
      let address: RuntimeAddress
      switch candidate.structure {
      case .serviceTable: address = try table(of: candidate, size: request.size)
      case .factory: address = try made(by: candidate)
      case .moduleTable, .targetTable, .route: continue
      }
      if candidate.structure == .serviceTable || candidate.entry.scope == .singleton {
        let answer = CachedValue(address, name: request.spelling)
        publish(answer, for: request.key, of: candidate.entry, version: version)
      }
      return address
    }
    return nil
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

  private func made(by candidate: CEntry) throws(ServiceError) -> RuntimeAddress {
    let factory = try read(
      ForeignCall.factory(at: candidate.address, in: candidate.entry.memory), of: candidate)
    let entry = candidate.entry
    guard entry.scope == .singleton else {
      return try Creation.make(Creation.Step(entry: entry, scope: Creation.scope(of: self))) {
        () throws(ServiceError) in try create(entry, factory)
      }
    }
    let made = try entry.singleton.get(for: entry) { () throws(ServiceError) in
      CachedValue(CInstance(address: try create(entry, factory), factory: factory), name: nil)
    }
    guard let instance = made as? CachedValue<CInstance> else {
      throw ServiceError(
        .unusable, service: entry.name, message: "\(entry.source) made no C object")
    }
    return instance.value.address
  }

  private func create(
    _ entry: RegisteredEntry, _ factory: CFactory
  ) throws(ServiceError) -> RuntimeAddress {
    if let object = ForeignCall.create(factory, Context(hive: self)) { return object }
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

/// What a C factory made for a singleton, and how it is given back.
struct CInstance: Sendable {
  let address: RuntimeAddress
  let factory: CFactory
}

extension RegisteredEntry {
  /// Gives back what the entry made, after it has left the Hive. With no lock held.
  func undo() { existingSingleton?.undo() }
}

extension Singleton {
  /// Forgets the instance; what a C factory made is destroyed. With no lock held.
  func undo() {
    guard let made = reset() as? CachedValue<CInstance> else { return }
    ForeignCall.destroy(made.value.address, with: made.value.factory)
  }
}
