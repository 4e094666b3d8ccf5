internal import BinaryImage
internal import Registration
internal import Threads

extension Hive {
  /// Returns the C table that is registered as a service: `BEEHIVE_SERVICE`, `BEEHIVE_SERVICE_FACTORY`.
  ///
  /// The image that holds it stays loaded from now on, until the service is removed or the Hive stops: from
  /// then on the pointer must not be used. What a factory made for this request, or as the one of
  /// `Scope.weak`, is given back with `destroy`, and with the last of it the image may go.
  ///
  /// - Parameters:
  ///   - service: The name that the C record declares.
  ///   - name: Its given name; nil prefers a service without one.
  ///   - type: The structure as the caller's header declares it. A provider's table must be at least as
  ///     large, so that a host never reads past its end.
  /// - Returns: The table of the entry with the largest priority; of equal ones, the first that was
  ///   registered.
  /// - Throws: ``ServiceError``: `notFound`; `tooSmall` if the provider's table is smaller than `Table`;
  ///   `unusable`; `cycle`; or `creationFailed` if the factory answered null.
  public func service<Table>(
    _ service: String, name: String? = nil, as type: UnsafePointer<Table>.Type
  ) throws(ServiceError) -> UnsafePointer<Table> {
    unsafe try CServiceLookup(
      service, name: name, as: type, size: MemoryLayout<Table>.size, hive: self
    ).pointer { unsafe UnsafePointer(bitPattern: $0) }
  }

  /// Returns the C service of a name, for structures whose layout only C knows.
  ///
  /// The pointer is valid as long as that of the other `service(_:name:as:)`.
  ///
  /// - Parameters:
  ///   - service: The name that the C record declares.
  ///   - name: Its given name; nil prefers a service without one.
  ///   - type: `OpaquePointer.self`. The size of the structure is not checked.
  /// - Returns: The table of the entry with the largest priority.
  /// - Throws: ``ServiceError``, as the other `service(_:name:as:)`, except `tooSmall`.
  public func service(
    _ service: String, name: String? = nil, as type: OpaquePointer.Type
  ) throws(ServiceError) -> OpaquePointer {
    unsafe try CServiceLookup(service, name: name, as: type, hive: self)
      .pointer { unsafe OpaquePointer(bitPattern: $0) }
  }

  /// Gives back what a C factory made for one request, or one reference to the instance of `Scope.weak`.
  ///
  /// The last reference destroys the instance. What a scope made, the end of the scope destroys.
  ///
  /// - Parameters:
  ///   - pointer: What `service(_:name:as:)` returned; must not be used afterwards.
  ///   - service: The name that it was asked for with.
  ///   - name: The given name that it was asked for with.
  /// - Returns: Whether it was given back; false if no factory of this name has made it.
  @discardableResult
  public func destroy<Table>(
    _ pointer: UnsafePointer<Table>, of service: String, name: String? = nil
  ) -> Bool {
    destroy(RuntimeAddress(rawValue: UInt(bitPattern: pointer)), of: service, name: name)
  }

  func destroy(_ object: RuntimeAddress, of service: String, name: String?) -> Bool {
    cCandidates(of: service, name: name).entries.contains { candidate in
      destroy(object, by: candidate)
    }
  }

  private func destroy(_ object: RuntimeAddress, by candidate: CCandidate) -> Bool {
    let entry = candidate.entry
    guard let isLast = state.withLock({ $0.giveBack(object, to: entry) }) else { return false }
    guard isLast else { return true }
    let factory = ForeignCall.factory(at: candidate.address, in: entry.memory)
    if case .success(let factory) = factory { ForeignCall.destroy(object, with: factory) }
    return true
  }

  /// The C services of a name, and what the Hive was when they were looked up.
  func cCandidates(of service: String, name: String?) -> CCandidates {
    var candidates = state.withLock { state -> CCandidates in
      let entries = state.table.services(named: service).compactMap { entry -> CCandidate? in
        guard case .structure(let structure, let address) = entry.provider else { return nil }
        return CCandidate(entry: entry, structure: structure, address: address)
      }
      return (entries, state.table.version, state.handedOut.turn)
    }
    let found = candidates.entries
    let named = found.filter { $0.entry.attributes.name == name }
    candidates.entries = (named.isEmpty && name == nil ? found : named)
      .sorted { $0.entry.answersBefore($1.entry) }
    return candidates
  }
}

/// The C services of a name, larger priority first, then in order; see `EntryTable.version` and
/// `HandedOut.turn`.
typealias CCandidates = (entries: [CCandidate], version: Int, turn: Int)

/// A C service that may answer.
struct CCandidate {
  let entry: RegisteredEntry
  let structure: CStructure
  let address: RuntimeAddress
}

/// What a C factory made, and how it is given back.
struct CInstance: Sendable {
  let address: RuntimeAddress
  let factory: CFactory

  /// Gives it back. With no lock held.
  func destroy() { ForeignCall.destroy(address, with: factory) }
}

extension RegisteredEntry {
  /// Takes out what a C factory made for all, for the caller to destroy.
  func takeInstance() -> CInstance? {
    guard isC else { return nil }
    return (existingSingleton?.take() as? CachedValue<CInstance>)?.value
  }
}
