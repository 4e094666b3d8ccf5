/// The compiler's tables of this process.
///
/// Here, and not where they are used, so that the compiler makes a reader for this memory alone.
package enum ProcessTables {
  private static var reader: MetadataReader<ProcessMemory> { MetadataReader(ProcessMemory()) }

  /// A declaration, and the bytes of its name.
  @unsafe package struct Named {
    /// Where its descriptor is.
    package let descriptor: UInt
    /// The last component of its path, without a NUL.
    package let name: UnsafeRawBufferPointer
  }

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
    let memory = ProcessMemory()
    guard let name = reader.nameAddress(of: descriptor) else { return nil }
    return unsafe Named(descriptor: UInt(descriptor), name: memory.bytes(ofTextAt: name))
  }

  /// Passes over the types that declare in a table to conform to the protocol of a descriptor, with their descriptors.
  package static func forEachConformer(
    in conformances: Range<UInt>, to descriptor: UInt, _ body: (UInt) -> Void
  ) {
    reader.forEachConformance(in: table(conformances)) { conformance in
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
  package static func requirements(ofProtocol descriptor: UInt) -> [ProtocolRequirement] {
    reader.requirements(ofProtocol: UInt64(descriptor))
  }

  private static func table(_ range: Range<UInt>) -> Range<UInt64> {
    UInt64(range.lowerBound)..<UInt64(range.upperBound)
  }
}
