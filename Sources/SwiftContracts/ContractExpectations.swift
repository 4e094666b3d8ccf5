package import BinaryImage
package import SwiftMetadata

/// The contracts of others that a plugin was built to find: its conformances to their protocols, and its classes that
/// extend theirs.
package struct ContractExpectations: Hashable, Codable, Sendable {
  /// A conformance of a type to a protocol of another image, or a class that extends a class of another.
  package struct Conformance: Hashable, Codable, Sendable {
    /// `Rot.Rotator`
    package var type: String
    /// `Contracts.Codec`
    package var contract: String
    /// The symbol of the descriptor of the protocol or the superclass.
    package var symbol: String
    /// The requirements that its witnesses answer, if the runtime makes their table; nil if their order was fixed when
    /// the plugin was compiled.
    package var answered: [String]?
    /// The words of such a fixed table; nil if the file does not state them.
    package var words: Int?
    /// The layout that a class was compiled to find in its superclass; nil for a conformance.
    package var superclass: ClassLayout?
  }

  /// The conformances, in the order of their table, then the subclasses.
  package var conformances: [Conformance] = []
  /// The symbols of digests that the loader must find.
  package var digests: [String] = []
  /// The protocols that the plugin declares itself.
  package var ownProtocols: [String] = []

  /// The expectations of a plugin that conforms to nothing.
  package init() {}

  /// Reads a file. Finds nothing if it is no linked ELF file, or has no Swift.
  ///
  /// - Throws: ``ImageError`` if its tables or symbols cannot be read.
  package init(of image: any FileImage) throws(ImageError) {
    guard let file = image as? ELFFile,
      let tables = try FileTables(of: image)
    else { return }
    try tables.forEachPath(in: .protocols) { path, _ in ownProtocols.append(path.text) }
    // Tables whose size only a symbol knows, by their addresses.
    var unsized: [UInt64: [Int]] = [:]
    try tables.forEachConformance { conformance throws(ImageError) in
      guard let symbol = conformance.protocol.symbol else { return }
      let descriptor = conformance.descriptor
      let witnesses = try tables.reader.witnesses(of: descriptor)
      var found = Conformance(
        type: conformance.type.name, contract: conformance.protocol.name, symbol: symbol)
      if descriptor.isResilient {
        found.answered = witnesses.requirements.compactMap {
          if case .imported(let symbol) = $0 { symbol } else { nil }
        }
      } else {
        found.words = witnesses.patternWords
        if found.words == nil, let address = descriptor.table {
          unsized[address, default: []].append(conformances.count)
        }
      }
      conformances.append(found)
    }
    // Subclasses, by the addresses of their descriptors.
    var subclasses: [UInt64: Int] = [:]
    try tables.forEachSubclass { type, superclass, layout in
      guard let symbol = superclass.symbol, let address = type.address else { return }
      subclasses[address] = conformances.count
      conformances.append(
        Conformance(
          type: type.name, contract: superclass.name, symbol: symbol, superclass: layout))
    }
    guard !conformances.isEmpty else { return }
    try file.forEachLoaderSymbol(where: { !$0.isDefined }) { symbol in
      if ContractLibrary.version(ofDigest: symbol.name) != nil { digests.append(symbol.name) }
      return true
    }
    guard !unsized.isEmpty || !subclasses.isEmpty else { return }
    var metadata: Set<UInt64> = []
    try file.forEachSymbol(where: {
      $0.isDefined && (unsized[$0.value] != nil || !subclasses.isEmpty)
    }) { symbol in
      if symbol.name.hasPrefix("$s"), symbol.name.hasSuffix("CN") { metadata.insert(symbol.value) }
      let words = Int(clamping: symbol.size) / image.pointerSize
      if words > 0, let places = unsized.removeValue(forKey: symbol.value) {
        for index in places { conformances[index].words = words }
      }
      return !unsized.isEmpty || !subclasses.isEmpty
    }
    for address in metadata.sorted() {
      guard let descriptor = try tables.reader.descriptor(ofClassMetadata: address),
        let index = subclasses[descriptor]
      else { continue }
      conformances[index].superclass =
        try tables.reader.superclass(of: descriptor, metadata: address)?.layout
    }
  }
}
