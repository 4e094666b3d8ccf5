internal import BinaryImage
internal import Registration
internal import Threads

extension Hive {
  /// The C table that is registered as this service: `BEEHIVE_SERVICE`, `BEEHIVE_SERVICE_FACTORY`.
  ///
  /// Refused where the provider's table is smaller than `Table`, so that a host never reads past its
  /// end. The image that holds it stays loaded from now on, until the service is removed or the Hive
  /// stops: from then on the pointer must not be used. What a factory made for this request, or as the
  /// one of `Scope.weak`, is given back with `destroy`, and with the last of it the image may go.
  public func service<Table>(
    _ service: String, name: String? = nil, as type: UnsafePointer<Table>.Type
  ) throws(ServiceError) -> UnsafePointer<Table> {
    unsafe try CResolution(service, name: name, as: type, hive: self).pointer()
  }

  /// The C service of this name, for structures whose layout only C knows.
  public func service(
    _ service: String, name: String? = nil, as type: OpaquePointer.Type
  ) throws(ServiceError) -> OpaquePointer {
    unsafe try CResolution(service, name: name, as: type, hive: self).pointer()
  }

  /// Gives back what a factory made for one request, or one reference to the instance of `Scope.weak`:
  /// the last one destroys it. False where no factory of this name has made it. What a scope made, the
  /// end of the scope destroys.
  @discardableResult
  public func destroy<Table>(
    _ pointer: UnsafePointer<Table>, of service: String, name: String? = nil
  )
    -> Bool
  {
    destroy(RuntimeAddress(rawValue: UInt(bitPattern: pointer)), of: service, name: name)
  }

  func destroy(_ object: RuntimeAddress, of service: String, name: String?) -> Bool {
    cCandidates(of: service, name: name).entries.contains { candidate in
      holding(candidate.entry) { destroy(object, by: candidate) } == true
    }
  }

  private func destroy(_ object: RuntimeAddress, by candidate: CCandidates.Candidate) -> Bool {
    let entry = candidate.entry
    guard let isLast = state.withLock({ $0.giveBack(object, to: entry) }) else { return false }
    if isLast,
      case .success(let factory) = ForeignCall.factory(
        at: candidate.address, in: entry.memory)
    {
      ForeignCall.destroy(object, with: factory)
    }
    return true
  }

  /// The C services of a name, and what the Hive was when they were looked up.
  func cCandidates(of service: String, name: String?) -> CCandidates {
    var candidates = state.withLock { state in
      CCandidates(
        entries: state.table.services(named: service).compactMap { entry in
          guard case .structure(let structure, let address) = entry.provider else { return nil }
          return CCandidates.Candidate(entry: entry, structure: structure, address: address)
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
}

/// The C services of a name.
struct CCandidates {
  struct Candidate {
    let entry: RegisteredEntry
    let structure: CStructure
    let address: RuntimeAddress
  }

  /// Larger priority first, then in order.
  var entries: [Candidate]
  /// See `EntryTable.version`.
  var version: Int
  /// See `HandedOut.turn`.
  var turn: Int
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
