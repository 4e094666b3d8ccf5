/// The compiler's tables of this process.
///
/// Here, and not where they are used, so that the compiler makes a reader for this memory alone.
package enum ProcessTables {
  private static var reader: MetadataReader<ProcessMemory> { MetadataReader(ProcessMemory()) }

  /// Passes over the classes, structs, enums and protocols of tables, with the bytes of their names.
  ///
  /// Left out are types that `Any` cannot hold, and records that lead nowhere or to something else.
  package static func forEachName(
    types: Range<UInt>, protocols: Range<UInt>, _ body: (UInt, UnsafeRawBufferPointer) -> Void
  ) {
    let (reader, memory) = (reader, ProcessMemory())
    func add(_ descriptor: UInt64) {
      guard let name = memory.target(at: descriptor &+ 8) else { return }
      unsafe body(UInt(descriptor), memory.bytes(ofTextAt: name))
    }
    reader.forEachType(in: table(types)) { descriptor in
      if reader.flags(of: descriptor).describesCopyableType { add(descriptor) }
    }
    reader.forEachProtocol(in: table(protocols)) { add($0) }
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
