internal import BinaryImage
internal import Registration
internal import Threads

// Services that C libraries provide, and C code that asks for them. Code of images runs with no lock held.
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
    unsafe try ServiceLookup(
      c: service, name: name, size: MemoryLayout<Table>.size, hive: self
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
    unsafe try ServiceLookup(c: service, name: name, hive: self)
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

  private func destroy(_ object: RuntimeAddress, of service: String, name: String?) -> Bool {
    var lookup = ServiceLookup(c: service, name: name, hive: self)
    return lookup.giveBack(object)
  }

  // MARK: Asking from C

  /// `beehive_service_named`, of any Hive.
  func cService(
    _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ size: Int,
    in scope: ServiceScope? = nil
  ) -> UnsafeRawPointer? {
    let address = LastError.reported {
      unsafe try ServiceLookup(
        c: service.text ?? "", name: name.text, size: size, scope: scope, hive: self
      ).address()
    }
    return unsafe address.flatMap { unsafe UnsafeRawPointer(bitPattern: $0.rawValue) }
  }

  /// `beehive_destroy`, of any Hive.
  func cDestroy(
    _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ object: UnsafeRawPointer?
  ) -> Bool {
    LastError.reported {
      let isDone = unsafe object.map { object in
        unsafe destroy(
          RuntimeAddress(rawValue: UInt(bitPattern: object)), of: service.text ?? "",
          name: name.text)
      }
      if isDone == true { return true }
      throw unsafe Problem(
        .badCall,
        "service \(service.text ?? ""): no factory of this name has made it, or it is kept until its "
          + "scope or the Hive ends")
    } ?? false
  }

  // MARK: Handing out

  /// Notes that what an entry made is handed out; `publish` says where lookups find it. Returns false where the
  /// entry has left, the Hive was stopped since `turn`, or what was kept for all has been taken back.
  func handOut(
    _ entry: RegisteredEntry, _ made: CInstance, as scope: Scope, at turn: Int,
    _ publish: (inout State) -> Void
  ) -> Bool {
    state.withLock { state in
      if made.factory != nil, scope != .transient, entry.instance?.address != made.address {
        return false
      }
      // What every asker gets is given back by nobody.
      let object = scope == .singleton ? nil : made.address
      guard state.handedOut.add(entry, object, at: turn) else { return false }
      publish(&state)
      return true
    }
  }

  /// Takes back what was handed out of C libraries: what singletons' factories made is given to their
  /// `destroy`, the last first. Entries stay.
  func takeBack() {
    // One by one: while a `destroy` runs, what was made before it is still there to be asked.
    for entry in state.withLock({ $0.handedOut.beginTakingBack() }) {
      let taken = state.withLock { state in
        state.forgetAnswers(of: entry, cache: cache)
        return state.take([entry])
      }
      for instance in taken { instance.destroy() }
    }
    cache.collect(now: true)
  }
}
