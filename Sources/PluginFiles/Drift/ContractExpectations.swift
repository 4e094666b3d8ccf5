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
    /// The requirements that its witnesses answer, if the runtime makes their table; nil if their order was fixed when
    /// the plugin was compiled.
    package var answered: [String]?
    /// The words of such a fixed table; nil if the file does not tell.
    package var words: Int?
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
    guard !conformances.isEmpty else { return }
    try file.forEachLoaderSymbol(where: { !$0.isDefined }) { symbol in
      if ContractLibrary.version(ofDigest: symbol.name) != nil { digests.append(symbol.name) }
      return true
    }
    guard !unsized.isEmpty else { return }
    try file.forEachSymbol(where: { $0.isDefined && unsized[$0.value] != nil }) { symbol in
      let words = Int(clamping: symbol.size) / image.pointerSize
      if words > 0, let places = unsized.removeValue(forKey: symbol.value) {
        for index in places { conformances[index].words = words }
      }
      return !unsized.isEmpty
    }
  }
}
