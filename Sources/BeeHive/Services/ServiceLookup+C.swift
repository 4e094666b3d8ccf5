internal import CBeeHive
internal import CForeignCalls
internal import Threads

/// The instance of a C service: a table, or an object of a factory and the way to give it back.
@safe struct CInstance: Disposable, @unchecked Sendable {
  // Sound: the functions of a factory may be called on any thread, as the header says.
  let address: RuntimeAddress
  var factory: beehive_service_factory?

  /// Gives back the object of a factory. The caller holds no lock.
  func dispose() {
    unsafe beehive_call_destroy(
      factory?.destroy, UnsafeMutableRawPointer(bitPattern: address.rawValue))
  }
}

// Lookups of C services: how to make them and hand them out.
extension ServiceLookup<CInstance> {
  /// Creates a lookup of a C service. `size` is the size of the caller's structure.
  init(
    c service: String, name: String?, size: Int = 0, scope: ServiceScope? = nil, hive: Hive
  ) {
    self.init(type: nil, c: service, size: size, name: name, scope: scope, hive: hive)
  }

  /// Returns the address as the pointer that the caller wants.
  func pointer<Pointer>(_ make: (UInt) -> Pointer?) throws(ServiceError) -> Pointer {
    guard let pointer = make(try address().rawValue) else {
      throw ServiceError(.unusable, service: names[0], message: "its provider answered null")
    }
    return pointer
  }

  /// Returns the address of the service.
  func address() throws(ServiceError) -> RuntimeAddress {
    if let question, let made: CInstance = hive.made(at: key, name: question) {
      return made.address
    }
    return try hive.resolve(self) { lookup throws(ServiceError) in try lookup.handedOut() }
  }

  /// Makes and hands out the service; nil if no entry serves.
  private mutating func handedOut() throws(ServiceError) -> RuntimeAddress? {
    guard let candidate = candidates().first,
      case let entry = candidate.entry,
      let made = try instance(of: entry, by: candidate.provider, as: entry.scope)
    else { return nil }
    let scope = made.factory == nil ? .singleton : entry.scope
    if scope == .scoped { return made.address }
    let isHandedOut = hive.state.withLock { state in
      guard made.factory == nil || state.handOut(entry, made.address) else { return false }
      if scope == .singleton {
        state.publish(
          CachedValue(made, name: question), for: key, of: entry, named: names,
          version: version, cache: hive.cache)
      }
      return true
    }
    hive.cache.collect()
    if isHandedOut { return made.address }
    // Leave no object that nobody knows of.
    if scope == .transient { made.dispose() }
    throw .gone(entry)
  }

  /// Gives back an object. Returns true if a factory of this name has made it, also a hidden or removed one. Also
  /// returns true for the table of an override, which stays as it is.
  func giveBack(_ object: RuntimeAddress) -> Bool {
    let (entries, fakes) = hive.state.withLock { state in
      let removed = state.table.removed(names[0])
      return (state.table.named(.service, names[0]).all + removed, state.overridingTables[names[0]])
    }
    return entries.contains { giveBack(object, to: $0) }
      || fakes?[object]?.contains { name == nil || $0 == name } == true
  }

  private func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Bool {
    guard name == nil || entry.givenName == name,
      case .structure(_, let address) = hive.state.withLock({ _ in entry.maker }),
      let isLast = hive.state.withLock({ $0.giveBack(object, to: entry) })
    else { return false }
    if isLast,
      let factory = try? read(.factory, as: beehive_service_factory.self, of: entry, at: address)
    {
      CInstance(address: object, factory: factory).dispose()
    }
    return true
  }

  /// Returns the table of an entry, or an object of its factory; nil if it leads to neither.
  func instance(
    of entry: RegisteredEntry, by provider: Provider?, as scope: Scope
  ) throws(ServiceError) -> CInstance? {
    guard case .structure(let structure, let address) = provider else { return nil }
    guard structure == .factory else { return try table(of: entry, at: address) }
    let factory = try read(.factory, as: beehive_service_factory.self, of: entry, at: address)
    return try instance(of: entry, in: scope) {
      let context = hive.state.withLock { $0.context } ?? Context(hive: hive)
      LastError.forget()
      let object = unsafe context.withCContext { unsafe beehive_call_create(factory.create, $0) }
      if let object = unsafe object {
        let address = RuntimeAddress(rawValue: UInt(bitPattern: object))
        return CInstance(address: address, factory: factory)
      }
      let reason = LastError.text
      let told = reason.isEmpty ? "" : ", having been told: \(reason)"
      throw Problem(.badCall, "its factory answered null\(told)")
    }
  }

  private func table(
    of entry: RegisteredEntry, at address: RuntimeAddress
  ) throws(ServiceError) -> CInstance {
    let table = unsafe try read(
      .serviceTable, as: beehive_service_table.self, of: entry, at: address)
    guard unsafe table.table_size >= size else {
      throw ServiceError(
        .tooSmall, entry,
        "\(entry.source) has a table of \(unsafe table.table_size.counted("byte")) where \(size) are expected; "
          + (unsafe table.table_size == 1
            ? "that is the size of a function: give the address of a table with it"
            : "rebuild it against the newer header"))
    }
    return unsafe CInstance(address: RuntimeAddress(rawValue: UInt(bitPattern: table.table)))
  }

  /// Returns the structure of a record. Rejects the entry if the structure is unusable.
  private func read<Structure>(
    _ kind: CStructure, as type: Structure.Type, of entry: RegisteredEntry,
    at address: RuntimeAddress
  ) throws(ServiceError) -> Structure {
    do throws(Problem) {
      return try entry.memory.structure(kind, as: type, at: address).get()
    } catch {
      hive.state.withLock { _ in entry.progress = .rejected(error) }
      throw ServiceError(.unusable, entry, "\(entry.source): \(error)")
    }
  }
}

// The objects of C factories that callers have.
extension Hive.State {
  /// Notes that the object of a C factory is handed out; counts it unless all callers share it. Returns false if the
  /// entry has left, or no longer keeps the object.
  fileprivate mutating func handOut(_ entry: RegisteredEntry, _ object: RuntimeAddress) -> Bool {
    guard !entry.isWithdrawn else { return false }
    if entry.scope != .transient {
      let kept = instances.instance(of: entry) as? CachedValue<CInstance>
      guard kept?.value.address == object else { return false }
    }
    if entry.scope != .singleton { entry.keeper.objects[object, default: 0] += 1 }
    return true
  }

  /// Gives back an object that an entry handed out, once. Returns nil if the entry did not hand it out, else
  /// whether the caller must destroy it: false only for a weak object that others still have.
  fileprivate mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Bool? {
    guard let count = entry.keeper.objects[object] else { return nil }
    entry.keeper.objects[object] = count > 1 ? count - 1 : nil
    if entry.keeper.isWithdrawn { entry.keeper.publishProgress() }
    guard entry.scope == .weak else { return true }
    // Only the caller that takes the instance out ends it.
    let kept = instances.instance(of: entry) as? CachedValue<CInstance>
    return count == 1 && kept?.value.address == object && !instances.remove([entry]).isEmpty
  }
}

// Calls from C of any Hive: `beehive_service_named`, `beehive_destroy`, and the functions of a context.
/// Returns the service that C code names; null, with the last error of this thread, if there is none.
func cService(
  _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ size: Int, of hive: Hive,
  in scope: ServiceScope? = nil
) -> UnsafeRawPointer? {
  let address = LastError.reported {
    unsafe try ServiceLookup(
      c: service.text ?? "", name: name.text, size: size, scope: scope, hive: hive
    ).address()
  }
  return unsafe address.flatMap { unsafe UnsafeRawPointer(bitPattern: $0.rawValue) }
}

/// Gives back an object that C code has. Returns false, with the last error of this thread, if it cannot.
func cDestroy(
  _ object: UnsafeRawPointer?, _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?,
  to hive: Hive
) -> Bool {
  LastError.reported {
    let isDone = unsafe object.map { object in
      unsafe ServiceLookup(c: service.text ?? "", name: name.text, hive: hive)
        .giveBack(RuntimeAddress(rawValue: UInt(bitPattern: object)))
    }
    if isDone == true { return true }
    throw unsafe Problem(
      .badCall,
      "service \(service.text ?? ""): no factory of this name has made it, or it is kept until its "
        + "scope or the Hive ends")
  } ?? false
}
