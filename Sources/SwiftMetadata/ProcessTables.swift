internal import LibC

/// The compiler's tables of this process.
///
/// Here, and not where they are used, so that the compiler makes a reader for this memory alone.
package enum ProcessTables {
  private static var reader: MetadataReader<ProcessMemory> { MetadataReader(ProcessMemory()) }

  /// The address of a declaration's descriptor, and the last component of its path, without a NUL.
  package typealias Named = (descriptor: UInt, name: UnsafeRawBufferPointer)

  /// The class, struct or enum that a record of a table leads to; nil of types that `Any` cannot hold, and where it
  /// leads nowhere or to something else.
  package static func type(at record: UInt) -> Named? {
    guard let descriptor = reader.type(at: UInt64(record)),
      reader.flags(of: descriptor).describesCopyableType
    else { return nil }
    return unsafe named(descriptor)
  }

  /// The protocol that a record of a table leads to; nil where it leads nowhere or to something else.
  package static func `protocol`(at record: UInt) -> Named? {
    guard let descriptor = reader.protocol(at: UInt64(record)) else { return nil }
    return unsafe named(descriptor)
  }

  private static func named(_ descriptor: UInt64) -> Named? {
    unsafe name(of: UInt(descriptor)).map { unsafe (UInt(descriptor), $0) }
  }

  /// Passes over the types that declare in a table to conform to the protocol of a descriptor, with their descriptors.
  package static func forEachConformer(
    in conformances: Range<UInt>, to descriptor: UInt, _ body: (UInt) -> Void
  ) {
    let table = UInt64(conformances.lowerBound)..<UInt64(conformances.upperBound)
    reader.forEachConformance(in: table) { conformance in
      if case .address(UInt64(descriptor)) = conformance.protocol,
        let type = conformance.type?.address
      {
        body(UInt(type))
      }
    }
  }

  /// The flags of a context descriptor.
  package static func flags(of context: UInt) -> ContextFlags { reader.flags(of: UInt64(context)) }

  /// The bytes of the name of a context descriptor; nil where its kind has none.
  package static func name(of context: UInt) -> UnsafeRawBufferPointer? {
    unsafe reader.nameAddress(of: UInt64(context)).map {
      unsafe ProcessMemory().bytes(ofTextAt: $0)
    }
  }

  /// The names from the module to a declaration; nil where an author could not write them all.
  ///
  /// - Parameters:
  ///   - context: Where its descriptor is.
  ///   - extended: The names of an extended type, which the runtime finds.
  /// - Returns: The names, the module's first.
  package static func path(of context: UInt, extended: (any Any.Type) -> [String]?) -> [String]? {
    reader.path(of: UInt64(context)) { mangled in
      ProcessMemory().type(mangled: mangled).flatMap(extended)
    }.flatMap { $0.isWhole ? $0.names : nil }
  }

  /// The requirements of a protocol, by its descriptor.
  package static func requirements(
    ofProtocol descriptor: UInt
  ) -> [(address: UInt64, hasDefault: Bool)] {
    reader.requirements(ofProtocol: UInt64(descriptor))
  }
}

/// The compiler's tables of this process, which nothing checks.
///
/// Sound because every address derives from a section that a loaded image registered with the Swift
/// runtime, by offsets that the runtime itself follows at the first cast: the tables are constant,
/// mapped for ever, and aligned to 4 bytes.
package struct ProcessMemory: MetadataMemory, Sendable {
  /// All that is loaded.
  package init() {}

  /// The 32 bits at an address.
  package func word(at address: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: number(at: address, size: 4))
  }

  /// The number in 1, 2 or 4 bytes at an address.
  @inline(__always)
  package func number(at address: UInt64, size: Int) -> UInt64 {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else { return 0 }
    return switch size {
    case 1: UInt64(unsafe pointer.load(as: UInt8.self))
    case 2: UInt64(unsafe pointer.loadUnaligned(as: UInt16.self))
    default: UInt64(unsafe pointer.loadUnaligned(as: UInt32.self))
    }
  }

  /// The pointer stored at an address; nil for null, or where no pointer can be.
  package func pointer(at address: UInt64) -> MetadataReference<Never>? {
    self.address(at: UInt(address)).map { .address(UInt64($0)) }
  }

  /// The pointer stored at an address; nil for null, or where no pointer can be.
  package func address(at address: UInt) -> UInt? {
    guard address % UInt(MemoryLayout<UInt>.alignment) == 0,
      let pointer = unsafe UnsafeRawPointer(bitPattern: address)
    else { return nil }
    let value = unsafe pointer.load(as: UInt.self)
    return value == 0 ? nil : value
  }

  /// The NUL-terminated text at an address, without its NUL.
  package func bytes(ofTextAt address: UInt64) -> UnsafeRawBufferPointer {
    let start = unsafe UnsafePointer<CChar>(bitPattern: UInt(address))
    return unsafe UnsafeRawBufferPointer(start: start, count: start.map { unsafe strlen($0) } ?? 0)
  }

  package func text(at address: UInt64) -> String {
    unsafe String(decoding: bytes(ofTextAt: address), as: UTF8.self)
  }

  package func path(of imported: Never) -> [String]? {}

  package func wrapped(_ address: UInt64) -> UInt64 { UInt64(UInt(truncatingIfNeeded: address)) }

  /// The type whose metadata lies at an address: an `Any.Type` is nothing but that address.
  package func type(_ metadata: UnsafeRawPointer) -> any Any.Type {
    unsafe unsafeBitCast(metadata, to: Any.Type.self)
  }

  /// The type with the mangled name at an address; nil for one that depends on generic arguments.
  package func type(mangled address: UInt64) -> (any Any.Type)? {
    guard let start = unsafe UnsafePointer<UInt8>(bitPattern: UInt(address)) else { return nil }
    // Symbolic references are inside the name: a control byte, then 4 or 8 bytes that may be 0.
    var count = 0
    while true {
      switch unsafe start[count] {
      case 0:
        return unsafe _getTypeByMangledNameInContext(
          start, UInt(count), genericContext: nil, genericArguments: nil)
      case 0x01...0x17: count += 5
      case 0x18...0x1f: count += 1 + MemoryLayout<UInt>.size
      default: count += 1
      }
    }
  }
}
