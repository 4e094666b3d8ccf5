internal import LibC
internal import SwiftMetadata

extension ContractLibrary {
  /// The contracts of this process that a plugin expects something of, as they are in memory.
  ///
  /// Found are those whose libraries the process was linked with, or opened with `RTLD_GLOBAL`: the ones that the
  /// loader would bind the plugin to. Of their requirements, the symbols are known that the plugin names.
  ///
  /// - Parameter plugin: What is to be loaded.
  package init(loadedFor plugin: ContractExpectations) {
    digests = plugin.digests.filter { Self.address(of: $0) != nil }
    var symbols: [UInt64: [String]] = [:]
    for conformance in plugin.conformances {
      guard case .resilient(let requirements) = conformance.table else { continue }
      for symbol in requirements {
        guard let address = Self.address(of: symbol).map({ UInt64($0) }) else { continue }
        symbols[address, default: []].append(symbol)
      }
    }
    for symbol in Set(plugin.conformances.map(\.symbol)).sorted() {
      guard let descriptor = Self.address(of: symbol) else { continue }
      contracts.append(
        Contract(
          name: SymbolName.text(of: symbol), symbol: symbol,
          requirements: ProcessTables.requirements(ofProtocol: descriptor).map {
            Requirement(symbols: symbols[$0.address] ?? [], hasDefault: $0.hasDefault)
          }))
    }
  }

  private static func address(of symbol: String) -> UInt? {
    // Sound: the loader reads the text and nothing else; null is the scope that all libraries share.
    unsafe symbol.withCString { unsafe dlsym(nil, $0) }.map { UInt(bitPattern: $0) }
  }
}
