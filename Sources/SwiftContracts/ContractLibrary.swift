package import BinaryImage
internal import LibC
package import SwiftMetadata

/// The protocols and classes that a library declares for others to conform to and to extend, as its descriptors say.
package struct ContractLibrary: Hashable, Codable, Sendable {
  /// A protocol with its requirements, or a class.
  package struct Contract: Hashable, Codable, Sendable {
    /// `Contracts.Codec`
    package var name: String
    /// The symbol of its descriptor, which conformances in other images name.
    package var symbol: String
    /// The requirements: one for each word of a witness table after the first, in their order.
    package var requirements: [Requirement]
    /// The layout of a class; nil for a protocol, and for a class that the runtime lays out.
    package var layout: ClassLayout?

    /// Returns the symbol of a class's metadata, given the symbol of its descriptor, which ends in `CMn`.
    static func metadata(ofClass symbol: String) -> String { symbol.dropLast(2) + "N" }
    /// The module that declares it.
    var module: String { String(name.prefix { $0 != "." }) }
    /// Whether its library was built with library evolution, so that conformances name what they answer.
    var isResilient: Bool {
      requirements.contains { $0.symbols.contains { $0.hasSuffix("Tq") } }
    }
  }

  /// A requirement of a protocol.
  package struct Requirement: Hashable, Codable, Sendable {
    /// The symbols of its descriptor. Without library evolution, only associated types and base protocols have some.
    package var symbols: [String]
    /// Whether the library answers for conformers that do not.
    package var hasDefault: Bool
  }

  /// The protocols that others can refer to, in the order of their table, then the classes.
  package var contracts: [Contract] = []
  /// The symbols of digests that the library has: see ``version(ofDigest:)``.
  package var digests: [String] = []

  /// A library without contracts.
  package init() {}

  /// Reads a file. Finds nothing if it is no linked ELF file, or has no Swift that others can refer to.
  ///
  /// - Throws: ``ImageError`` if its tables or symbols cannot be read.
  package init(of image: any FileImage) throws(ImageError) {
    guard let file = image as? ELFFile,
      let tables = try FileTables([.protocols, .types], of: image)
    else { return }
    var symbols: [UInt64: [String]] = [:]
    // The descriptors of protocols and classes, and the metadata of classes.
    var descriptors: [UInt64: String] = [:]
    var metadata: [String: UInt64] = [:]
    try file.forEachLoaderSymbol(where: \.isDefined) { symbol in
      guard symbol.name.hasPrefix("$s") else { return true }
      if ContractLibrary.version(ofDigest: symbol.name) != nil { digests.append(symbol.name) }
      if symbol.name.hasSuffix("CN") { metadata[symbol.name] = symbol.value }
      if ["Mp", "CMn"].contains(where: symbol.name.hasSuffix) {
        descriptors[symbol.value] = symbol.name
      }
      if ["Tq", "Tl", "Tn", "Tb"].contains(where: symbol.name.hasSuffix) {
        symbols[symbol.value, default: []].append(symbol.name)
      }
      return true
    }
    for list in [FileTables.List.protocols, .types] {
      try tables.forEachPath(in: list) { path, descriptor throws(ImageError) in
        guard let symbol = descriptors[descriptor] else { return }
        let requirements = try tables.reader.requirements(ofProtocol: descriptor)
        contracts.append(
          Contract(
            name: path.text, symbol: symbol,
            requirements: requirements.map {
              Requirement(symbols: symbols[$0.address] ?? [], hasDefault: $0.hasDefault)
            },
            layout: try tables.reader.layout(
              ofClass: descriptor, metadata: metadata[Contract.metadata(ofClass: symbol)])))
      }
    }
  }
}

extension ContractLibrary {
  /// Returns the module and the version that a digest's symbol names; nil if the symbol is no digest.
  ///
  /// A digest names a contract's version, and conformers in Swift refer to it; Docs/contracts.md says how to write it.
  /// A client refers to the function of the version that it was built with, so it loads with no other library.
  static func version(ofDigest symbol: String) -> (module: String, version: String)? {
    let start = "beehiveContract_"
    guard symbol.hasSuffix("yyF"), let name = SymbolName(symbol), name.suffix == "yyF",
      name.path.count == 2, name.path[1].hasPrefix(start)
    else { return nil }
    let numbers = name.path[1].dropFirst(start.count)
      .split(separator: "_", omittingEmptySubsequences: false)
    return (name.path[0], numbers.joined(separator: "."))
  }
}

extension ContractLibrary {
  /// Reads what a plugin expects of a library from the library that this process has loaded, in memory.
  ///
  /// Finds nothing if no library of that name is loaded. Knows only the symbols of requirements that the plugin names.
  ///
  /// - Parameters:
  ///   - name: The loader's name of the library; its file may be another today.
  ///   - ranges: Its mapped ranges; the loader also finds symbols of libraries that it needs.
  ///   - plugin: The expectations of the plugin that is to be loaded.
  package init(loadedAs name: String, at ranges: [MappedRange], for plugin: ContractExpectations) {
    // Sound: nothing is opened; the handle keeps the library until it is closed. The loader only reads the texts.
    guard let handle = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { return }
    defer { unsafe dlclose(handle) }
    func address(of symbol: String) -> UInt? {
      let found = unsafe dlsym(handle, symbol).map { UInt(bitPattern: $0) }
      return found.flatMap { address in ranges.contains { $0.contains(address) } ? address : nil }
    }
    digests = plugin.digests.filter { address(of: $0) != nil }
    var symbols: [UInt64: [String]] = [:]
    for symbol in plugin.conformances.lazy.compactMap(\.answered).joined() {
      guard let address = address(of: symbol).map({ UInt64($0) }) else { continue }
      symbols[address, default: []].append(symbol)
    }
    for symbol in Set(plugin.conformances.map(\.symbol)).sorted() {
      guard let descriptor = ContextDescriptor(at: address(of: symbol)) else { continue }
      contracts.append(
        Contract(
          name: SymbolName.text(of: symbol), symbol: symbol,
          requirements: descriptor.requirements.map {
            Requirement(symbols: symbols[$0.address] ?? [], hasDefault: $0.hasDefault)
          }, layout: descriptor.layout(metadata: address(of: Contract.metadata(ofClass: symbol)))))
    }
  }
}
