internal import BinaryImage
internal import CBeeHive

/// Calls into code, and reads of structures, that an image declared by address.
///
/// The one place of this layer that turns addresses into functions and pointers. Every caller has
/// made sure that the image stays mapped: Swift images are pinned, C images held. What the author
/// promised by writing the record (that the function has this type) cannot be checked.
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
  static func serviceTable(
    at address: RuntimeAddress, in memory: ForeignMemory
  ) -> Result<CTable, Problem> {
    unsafe memory.structure(beehive_service_table.self, at: address).flatMap { head in
      unsafe table(head.table, size: head.table_size, "the table of the service", in: memory)
    }
  }

  /// Reads what the context of an `abi=c-module` record leads to; each operation that is there is code.
  static func moduleTable(
    at address: RuntimeAddress, in memory: ForeignMemory
  ) -> Result<CTable, Problem> {
    let found = unsafe memory.structure(beehive_module_table.self, at: address)
      .flatMap { head in
        unsafe table(
          head.operations, size: head.operations_size, "the table of the operations", in: memory)
      }
    guard case .success(let table) = found else { return found }
    for (name, operation) in COperations(table: table).addresses
    where !memory.holdsCode(operation) {
      return .failure(.noCode("the operation \(name)", at: operation))
    }
    return found
  }

  private static func table(
    _ pointer: UnsafeRawPointer?, size: Int, _ what: String, in memory: ForeignMemory
  ) -> Result<CTable, Problem> {
    guard let pointer = unsafe pointer else { return .failure(.noContext) }
    let table = unsafe CTable(address: RuntimeAddress(pointer), size: size)
    return memory.holdsData(table.address, size: size)
      ? .success(table) : .failure(.noData(what, at: table.address, size: size))
  }

  /// Reads what the context of an `abi=c-factory` record leads to.
  static func factory(
    at address: RuntimeAddress, in memory: ForeignMemory
  ) -> Result<CFactory, Problem> {
    memory.structure(beehive_service_factory.self, at: address).flatMap { header in
      guard let create = unsafe header.create else { return .failure(.noContext) }
      let factory = unsafe CFactory(
        create: Self.address(of: create),
        destroy: header.destroy.map { unsafe Self.address(of: $0) })
      for function in [factory.create, factory.destroy].compactMap(\.self)
      where !memory.holdsCode(function) {
        return .failure(.noCode("a function of the factory", at: function))
      }
      return .success(factory)
    }
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
  fileprivate init(_ pointer: UnsafeRawPointer) { self.init(rawValue: UInt(bitPattern: pointer)) }
}
