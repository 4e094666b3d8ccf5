internal import LibC

/// The compiler's description of a type, protocol, module or extension of a loaded Swift image.
///
/// A view of constant memory: Swift images are never unmapped, so an address from a registered section stays readable.
/// It is here, not where it is used, so that the compiler makes a reader for only this memory.
package struct ContextDescriptor: Hashable, Sendable {
  private static var reader: MetadataReader<ProcessMemory> { MetadataReader(ProcessMemory()) }

  /// The address of the descriptor.
  package let address: UInt

  /// The descriptor at an address; nil unless a descriptor can lie there.
  package init?(at address: UInt?) {
    guard let address, address != 0, address % 4 == 0 else { return nil }
    self.address = address
  }

  /// The kind of the described context, and its flags.
  package var flags: ContextFlags { Self.reader.flags(of: UInt64(address)) }

  /// The bytes of the last component of the path, without a NUL; nil if the kind has no name.
  package var nameBytes: UnsafeRawBufferPointer? {
    unsafe Self.reader.nameAddress(of: UInt64(address)).map {
      unsafe ProcessMemory().bytes(ofTextAt: $0)
    }
  }

  /// The last component of the path; nil if the kind has no name.
  package var name: String? {
    unsafe nameBytes.map { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the names from the module to a declaration; nil if an author could not write them all.
  ///
  /// - Parameter extended: The names of an extended type, which the runtime finds.
  /// - Returns: The names, the module's first.
  package func path(extended: (any Any.Type) -> [String]?) -> [String]? {
    Self.reader.path(of: UInt64(address)) { mangled in
      ProcessMemory().type(mangled: mangled).flatMap(extended)
    }.flatMap { $0.isWhole ? $0.names : nil }
  }

  /// The requirements of a protocol.
  package var requirements: [(address: UInt64, hasDefault: Bool)] {
    Self.reader.requirements(ofProtocol: UInt64(address))
  }

  /// Returns the layout of a class whose metadata is at an address; nil if the runtime lays it out.
  package func layout(metadata: UInt?) -> ClassLayout? {
    Self.reader.layout(ofClass: UInt64(address), metadata: metadata.map { UInt64($0) })
  }

  /// Calls `body` with each type that declares in a table to conform to this protocol.
  package func forEachConformer(in conformances: Range<UInt>, _ body: (Self) -> Void) {
    let table = UInt64(conformances.lowerBound)..<UInt64(conformances.upperBound)
    Self.reader.forEachConformance(in: table) { conformance in
      guard case .address(UInt64(address)) = conformance.protocol else { return }
      if let type = Self(at: conformance.type?.address.map { UInt($0) }) { body(type) }
    }
  }

  /// Calls `body` with the classes, structs, enums and protocols in an image's tables, and the bytes of their names.
  ///
  /// Skips types that `Any` cannot hold, and records that lead nowhere or to something else.
  package static func forEach(
    inTypes types: Range<UInt>, protocols: Range<UInt>,
    _ body: (Self, UnsafeRawBufferPointer) -> Void
  ) {
    for table in [types, protocols] {
      for record in stride(from: table.lowerBound, to: table.upperBound, by: 4) {
        guard let found = Self(at: reader.descriptor(at: UInt64(record)).map { UInt($0) }),
          found.flags.describesCopyableType || found.flags.kind == .protocol,
          let name = unsafe found.nameBytes
        else { continue }
        unsafe body(found, name)
      }
    }
  }
}

/// The compiler's tables of this process, which nothing checks.
///
/// Sound because every address derives from a section that a loaded image registered with the Swift
/// runtime, by offsets that the runtime itself follows at the first cast: the tables are constant,
/// mapped for ever, and aligned to 4 bytes.
package struct ProcessMemory: MetadataMemory, Sendable {
  /// The memory of all that is loaded.
  package init() {}

  package var pointerSize: Int { MemoryLayout<UInt>.size }

  /// Returns the number in 1, 2 or 4 bytes at an address.
  @inline(__always)
  package func number(at address: UInt64, size: Int) -> UInt64 {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else { return 0 }
    return switch size {
    case 1: UInt64(unsafe pointer.load(as: UInt8.self))
    case 2: UInt64(unsafe pointer.loadUnaligned(as: UInt16.self))
    default: UInt64(unsafe pointer.loadUnaligned(as: UInt32.self))
    }
  }

  /// Returns the pointer stored at an address; nil for null, or if no pointer can be there.
  package func pointer(at address: UInt64) -> MetadataReference<Never>? {
    self.address(at: UInt(address)).map { .address(UInt64($0)) }
  }

  /// Returns the pointer stored at an address; nil for null, or if no pointer can be there.
  package func address(at address: UInt) -> UInt? {
    guard address % UInt(MemoryLayout<UInt>.alignment) == 0,
      let pointer = unsafe UnsafeRawPointer(bitPattern: address)
    else { return nil }
    let value = unsafe pointer.load(as: UInt.self)
    return value == 0 ? nil : value
  }

  /// Returns the NUL-terminated text at an address, without its NUL.
  package func bytes(ofTextAt address: UInt64) -> UnsafeRawBufferPointer {
    let start = unsafe UnsafePointer<CChar>(bitPattern: UInt(address))
    return unsafe UnsafeRawBufferPointer(start: start, count: start.map { unsafe strlen($0) } ?? 0)
  }

  package func text(at address: UInt64) -> String {
    unsafe String(decoding: bytes(ofTextAt: address), as: UTF8.self)
  }

  package func path(of imported: Never) -> [String]? {}

  package func wrapped(_ address: UInt64) -> UInt64 { UInt64(UInt(truncatingIfNeeded: address)) }

  /// Returns the type whose metadata lies at an address: an `Any.Type` is nothing but that address.
  package func type(_ metadata: UnsafeRawPointer) -> any Any.Type {
    unsafe unsafeBitCast(metadata, to: Any.Type.self)
  }

  /// Returns the type with the mangled name at an address; nil if the type depends on generic arguments.
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
