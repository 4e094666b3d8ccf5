internal import BinaryImage
internal import CBeeHive

/// Calls into code, and reads of structures, that an image declared by address.
///
/// The one place of this layer that turns addresses into functions and pointers. Every caller has
/// made sure that the image stays mapped: Swift images are pinned, C images held. What the author
/// promised by writing the record (that the function has this type) nobody can check.
enum ForeignCall {
  /// Asks an accessor for a value of `Service`; nil where it refuses that type.
  static func make<Service>(_ accessor: Accessor, as service: Service.Type) -> Service? {
    guard let function = unsafe function(accessor.function) else { return nil }
    // The accessor compares against an `Any.Type` value and writes into uninitialised storage.
    return unsafe withUnsafeTemporaryAllocation(of: Service.self, capacity: 1) { storage in
      var expected: Any.Type = service
      let context = unsafe pointer(accessor.context)
      let isMade = unsafe withUnsafePointer(to: &expected) { type in
        unsafe function(storage.baseAddress, type, context, UInt(BEEHIVE_REQUEST_MAKE))
      }
      return isMade ? unsafe storage.moveElement(from: 0) : nil
    }
  }

  /// The type that an accessor makes; nil where it does not say.
  static func describe(_ accessor: Accessor) -> Any.Type? {
    guard let function = unsafe function(accessor.function) else { return nil }
    // An accessor that knows no requests compares the expected type, finds it strange and refuses.
    var expected: Any.Type = Stranger.self
    var described: Any.Type = Stranger.self
    let context = unsafe pointer(accessor.context)
    let isDescribed = unsafe withUnsafePointer(to: &expected) { expected in
      unsafe withUnsafeMutablePointer(to: &described) { described in
        unsafe function(described, expected, context, UInt(BEEHIVE_REQUEST_DESCRIBE))
      }
    }
    return isDescribed && described != Stranger.self ? described : nil
  }

  /// A type that no service has.
  private enum Stranger {}

  /// Reads what the context of an `abi=c-table` record leads to.
  static func serviceTable(at address: RuntimeAddress) -> Result<CTable, Problem> {
    guard let header = unsafe pointer(address)?.load(as: beehive_service_table.self) else {
      return .failure(.noContext)
    }
    guard unsafe header.size >= MemoryLayout<beehive_service_table>.size else {
      return unsafe .failure(.badContext(header.size, MemoryLayout<beehive_service_table>.size))
    }
    guard let table = unsafe header.table else { return .failure(.noContext) }
    return unsafe .success(CTable(address: RuntimeAddress(table), size: header.table_size))
  }

  /// Reads what the context of an `abi=c-module` record leads to.
  static func moduleTable(at address: RuntimeAddress) -> Result<CTable, Problem> {
    guard let header = unsafe pointer(address)?.load(as: beehive_module_table.self) else {
      return .failure(.noContext)
    }
    guard unsafe header.size >= MemoryLayout<beehive_module_table>.size else {
      return unsafe .failure(.badContext(header.size, MemoryLayout<beehive_module_table>.size))
    }
    guard let table = unsafe header.operations else { return .failure(.noContext) }
    return unsafe .success(CTable(address: RuntimeAddress(table), size: header.operations_size))
  }

  /// Reads what the context of an `abi=c-factory` record leads to.
  static func factory(at address: RuntimeAddress) -> Result<CFactory, Problem> {
    guard let header = unsafe pointer(address)?.load(as: beehive_service_factory.self) else {
      return .failure(.noContext)
    }
    guard header.size >= MemoryLayout<beehive_service_factory>.size else {
      return .failure(.badContext(header.size, MemoryLayout<beehive_service_factory>.size))
    }
    guard let create = unsafe header.create else { return .failure(.noContext) }
    let destroy = unsafe header.destroy.map { unsafe Self.address(of: $0) }
    return unsafe .success(CFactory(create: Self.address(of: create), destroy: destroy))
  }

  /// Calls the `create` of a C factory; nil where it answers null.
  static func create(_ factory: CFactory, _ context: Context) -> RuntimeAddress? {
    typealias Create = @convention(c) (UnsafePointer<beehive_context>?) -> UnsafeMutableRawPointer?
    guard let address = unsafe pointer(factory.create) else { return nil }
    let create = unsafe unsafeBitCast(address, to: Create.self)
    return unsafe context.withCContext { context in
      unsafe create(context).map { unsafe RuntimeAddress($0) }
    }
  }

  /// Calls the `destroy` of a C factory, if it has one.
  static func destroy(_ object: RuntimeAddress, with factory: CFactory) {
    typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void
    guard let address = unsafe pointer(factory.destroy) else { return }
    let destroy = unsafe unsafeBitCast(address, to: Destroy.self)
    unsafe destroy(UnsafeMutableRawPointer(bitPattern: object.rawValue))
  }

  private static func function(_ address: RuntimeAddress) -> beehive_accessor? {
    guard let address = unsafe pointer(address) else { return nil }
    return unsafe unsafeBitCast(address, to: beehive_accessor.self)
  }

  /// The address of a C function; `Function` is a `@convention(c)` type.
  private static func address<Function>(of function: Function) -> RuntimeAddress {
    unsafe RuntimeAddress(rawValue: unsafeBitCast(function, to: UInt.self))
  }

  private static func pointer(_ address: RuntimeAddress?) -> UnsafeRawPointer? {
    unsafe address.flatMap { unsafe UnsafeRawPointer(bitPattern: $0.rawValue) }
  }
}

extension RuntimeAddress {
  fileprivate init(_ pointer: UnsafeRawPointer) {
    self.init(rawValue: UInt(bitPattern: pointer))
  }
}

extension Problem {
  static let noContext = Problem(
    .badContext, "the record leads to no structure, or to one without a table; fix its context")

  static func badContext(_ found: UInt32, _ needed: Int) -> Problem {
    Problem(
      .badContext,
      "the record's structure says \(found) bytes where \(needed) are needed; rebuild with BeeHive.h"
    )
  }
}
