package import BinaryImage
internal import SwiftMetadata

/// What a plugin was built to expect of the contracts of others: its conformances to their protocols.
package struct ContractExpectations: Hashable, Codable, Sendable {
  /// A conformance of a type to a protocol of another image.
  package struct Conformance: Hashable, Codable, Sendable {
    /// `Rot.Rotator`
    package var type: String
    /// `Contracts.Codec`
    package var contract: String
    /// The symbol of the protocol's descriptor.
    package var symbol: String
    /// Its witnesses.
    package var table: Table
  }

  /// How the witnesses of a conformance are found.
  package enum Table: Hashable, Codable, Sendable {
    /// In a table of so many words, whose order was fixed when the plugin was compiled.
    case fixed(words: Int)
    /// In such a table, whose size the file does not tell.
    case unsized
    /// By the requirements that they answer; the runtime makes the table.
    case resilient(requirements: [String])
  }

  /// The conformances, in the order of their table.
  package var conformances: [Conformance] = []
  /// The symbols of digests that the loader must find.
  package var digests: [String] = []
  /// The protocols that the plugin declares itself.
  package var ownProtocols: [String] = []

  /// A plugin that conforms to nothing.
  package init() {}

  /// Reads a file; nothing where it is no ELF file that is linked, or has no Swift.
  ///
  /// - Throws: ``ImageError`` where its tables or symbols cannot be read.
  package init(of image: any FileImage) throws(ImageError) {
    guard let file = image as? ELFFile,
      let tables = try FileTables([.protocols, .conformances], of: image)
    else { return }
    try tables.forEachPath(in: .protocols) { path, _ in ownProtocols.append(path.text) }
    // Tables that only a symbol knows the size of, by their addresses.
    var unsized: [UInt64: [Int]] = [:]
    try tables.forEachConformance { conformance throws(ImageError) in
      guard let symbol = conformance.protocol.symbol else { return }
      let descriptor = conformance.descriptor
      let witnesses = try tables.reader.witnesses(of: descriptor)
      var table = witnesses.patternWords.map { Table.fixed(words: $0) } ?? .unsized
      if descriptor.isResilient {
        table = .resilient(
          requirements: witnesses.requirements.compactMap {
            if case .imported(let symbol) = $0 { symbol } else { nil }
          })
      }
      if table == .unsized, let address = descriptor.table {
        unsized[address, default: []].append(conformances.count)
      }
      conformances.append(
        Conformance(
          type: conformance.type.name, contract: conformance.protocol.name, symbol: symbol,
          table: table))
    }
    guard !conformances.isEmpty else { return }
    try file.forEachLoaderSymbol(where: { !$0.isDefined }) { symbol in
      if ContractLibrary.version(ofDigest: symbol.name) != nil { digests.append(symbol.name) }
      return true
    }
    guard !unsized.isEmpty else { return }
    try file.forEachSymbol(where: { $0.isDefined && unsized[$0.value] != nil }) { symbol in
      let words = Int(clamping: symbol.size) / image.pointerSize
      if words > 0, let places = unsized.removeValue(forKey: symbol.value) {
        for index in places { conformances[index].table = .fixed(words: words) }
      }
      return !unsized.isEmpty
    }
  }
}
