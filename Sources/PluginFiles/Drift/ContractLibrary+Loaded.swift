package import BinaryImage
internal import LibC
internal import SwiftMetadata

extension ContractLibrary {
  /// What a plugin expects of a library that this process has loaded, as it is in memory.
  ///
  /// Nothing where no library of that name is loaded. Of requirements, the symbols are known that the plugin names.
  ///
  /// - Parameters:
  ///   - name: The loader's name of the library; its file may be another today.
  ///   - ranges: Where it is mapped; the loader finds symbols of what it needs as well.
  ///   - plugin: What is to be loaded.
  package init(
    loadedAs name: String, at ranges: [MappedRange], for plugin: ContractExpectations
  ) {
    // Sound: nothing is opened; the handle keeps the library until it is closed. The loader reads the texts, and
    // nothing else.
    guard let handle = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { return }
    defer { unsafe dlclose(handle) }
    func address(of symbol: String) -> UInt? {
      let found = unsafe dlsym(handle, symbol).map { UInt(bitPattern: $0) }
      return found.flatMap { address in ranges.contains { $0.contains(address) } ? address : nil }
    }
    digests = plugin.digests.filter { address(of: $0) != nil }
    var symbols: [UInt64: [String]] = [:]
    for conformance in plugin.conformances {
      guard case .resilient(let requirements) = conformance.table else { continue }
      for symbol in requirements {
        guard let address = address(of: symbol).map({ UInt64($0) }) else { continue }
        symbols[address, default: []].append(symbol)
      }
    }
    for symbol in Set(plugin.conformances.map(\.symbol)).sorted() {
      guard let descriptor = address(of: symbol) else { continue }
      contracts.append(
        Contract(
          name: SymbolName.text(of: symbol), symbol: symbol,
          requirements: ProcessTables.requirements(ofProtocol: descriptor).map {
            Requirement(symbols: symbols[$0.address] ?? [], hasDefault: $0.hasDefault)
          }))
    }
  }
}
