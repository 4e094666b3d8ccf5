internal import BinaryImage
internal import CBeeHive

/// Calls into code, and reads of structures, that an image declared by address.
///
/// The one place of this layer that turns addresses into functions and pointers. An image that
/// has registered stays mapped. What the author promised by writing the record (that the function has this type) cannot be checked.
enum ForeignCall {
  /// Asks an accessor for a value of `Service`; nil where it refuses that type.
  static func make<Service>(_ accessor: Accessor, as service: Service.Type) -> Service? {
    // The accessor compares against an `Any.Type` value and writes into uninitialised storage.
    unsafe withUnsafeTemporaryAllocation(of: Service.self, capacity: 1) { storage in
      let isMade = unsafe call(
        accessor, BEEHIVE_REQUEST_MAKE, expecting: service, storage.baseAddress)
      return isMade ? unsafe storage.moveElement(from: 0) : nil
    }
  }

  /// The type that an accessor makes; nil where it does not say.
  static func describe(_ accessor: Accessor) -> Any.Type? {
    // An accessor that knows no requests compares the expected type, finds it strange and refuses.
    var described: Any.Type = Never.self
    let isDescribed = unsafe withUnsafeMutablePointer(to: &described) { described in
      unsafe call(accessor, BEEHIVE_REQUEST_DESCRIBE, expecting: Never.self, described)
    }
    return isDescribed && described != Never.self ? described : nil
  }

  private static func call(
    _ accessor: Accessor, _ request: Int32, expecting type: Any.Type,
    _ storage: UnsafeMutableRawPointer?
  ) -> Bool {
    guard let address = unsafe pointer(accessor.function) else { return false }
    let function = unsafe unsafeBitCast(address, to: beehive_accessor.self)
    return unsafe withUnsafePointer(to: type) { type in
      unsafe function(storage, type, pointer(accessor.context), UInt(request))
    }
  }

  /// Calls the `create` of a C factory; nil where it answers null.
  static func create(_ factory: beehive_service_factory, _ context: Context) -> RuntimeAddress? {
    unsafe context.withCContext { context in
      unsafe factory.create(context).map { RuntimeAddress(rawValue: UInt(bitPattern: $0)) }
    }
  }

  /// Calls the `destroy` of a C factory, if it has one.
  static func destroy(_ object: RuntimeAddress, with factory: beehive_service_factory) {
    unsafe factory.destroy?(UnsafeMutableRawPointer(bitPattern: object.rawValue))
  }

  private static func pointer(_ address: RuntimeAddress?) -> UnsafeRawPointer? {
    unsafe address.flatMap { unsafe UnsafeRawPointer(bitPattern: $0.rawValue) }
  }
}

extension ForeignMemory {
  /// The structure of C at an address, which satisfies the rules for it.
  ///
  /// The image stays mapped. `Structure` is the `beehive_…` structure that `kind` names, of which every
  /// bit pattern is a value; bytes that a longer one has are not looked at.
  package func structure<Structure>(
    _ kind: CStructure, as type: Structure.Type, at address: RuntimeAddress
  ) -> Result<Structure, Problem> {
    do throws(Refusal) { try kind.check(at: UInt64(address.rawValue), in: self) } catch {
      return .failure(Problem(error))
    }
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address.rawValue) else {
      preconditionFailure("the rules let no null pointer through")
    }
    return unsafe .success(pointer.load(as: Structure.self))
  }
}
