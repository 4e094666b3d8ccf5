internal import CElf

/// A symbol by which images are bound to each other: one that a file defines for others, or wants of them.
package struct BoundSymbol: Hashable, Sendable {
  /// Its name.
  package var name: String
  /// The version that is defined or wanted; nil where any is.
  package var version: String?
  /// The name of the library that the wanted version was linked from.
  package var library: String?
  /// Whether only those who ask for the version find it.
  package var isHidden = false
  /// Whether a file that wants it goes without, where nothing defines it.
  package var isWeak = false

  /// Describes a symbol.
  package init(name: String, version: String? = nil) { (self.name, self.version) = (name, version) }

  /// `memcpy@GLIBC_2.14`
  package var title: String { version.map { "\(name)@\($0)" } ?? name }

  /// Whether a definition is what one wants that names this.
  package func isMet(by definition: BoundSymbol) -> Bool {
    guard name == definition.name else { return false }
    // What has no versions is taken for all of them.
    guard let version else { return !definition.isHidden || definition.version == nil }
    return definition.version == version || definition.version == nil && !definition.isHidden
  }
}

/// What a linked file defines for others and wants of them, as the loader reads it.
package final class ELFBindings {
  private let file: ELFFile
  private let symbols: ELFSymbols?
  private let versions: ELFSymbolVersions
  private let hash: ELFSymbolHash
  /// All definitions, where no table finds them by name.
  private var all: [String: [BoundSymbol]]?

  /// Whether its definitions have versions.
  package var hasVersions: Bool { versions.areThere }
  /// The versions that its libraries must define, but for weak ones, whether a symbol names them or not.
  package var neededVersions: [NeededVersion] { versions.needed }

  /// Whether it defines versions of symbols, and not that one.
  package func lacks(version: String) -> Bool { versions.defined?.contains(version) == false }

  /// Reads the tables of a file.
  package init(of file: ELFFile) throws(ImageError) {
    self.file = file
    symbols = try file.dynamic()?.symbols
    versions = try ELFSymbolVersions(of: file)
    hash = try file.symbolHash()
  }

  /// The symbols that relocations name and that other images have to define, in the order of the file.
  ///
  /// A symbol that no relocation names is never looked for, whatever the table says.
  package func wanted() throws(ImageError) -> [BoundSymbol] {
    guard let symbols else { return [] }
    var wanted: [BoundSymbol] = []
    for number in try file.relocationSurvey().symbols.sorted() {
      let symbol = try symbols.symbol(number)
      guard symbol.place == .undefined else { continue }
      var bound = BoundSymbol(name: symbol.name)
      try versions.describe(&bound, number)
      bound.isWeak = symbol.binding == UInt8(STB_WEAK)
      wanted.append(bound)
    }
    return wanted
  }

  /// Whether the file defines what another wants.
  package func define(_ wanted: BoundSymbol) throws(ImageError) -> Bool {
    guard let candidates = try hash.candidates(for: wanted.name, in: file.header) else {
      return try allDefinitions()[wanted.name, default: []].contains { wanted.isMet(by: $0) }
    }
    for number in candidates {
      if let found = try definition(number), wanted.isMet(by: found) { return true }
    }
    return false
  }

  private func definition(_ number: UInt32) throws(ImageError) -> BoundSymbol? {
    guard let symbol = try symbols?.symbol(number), symbol.canBeBoundTo else { return nil }
    var bound = BoundSymbol(name: symbol.name)
    try versions.describe(&bound, number)
    return bound
  }

  private func allDefinitions() throws(ImageError) -> [String: [BoundSymbol]] {
    if let all { return all }
    var found: [String: [BoundSymbol]] = [:]
    for number in 0..<hash.count {
      if let bound = try definition(number) { found[bound.name, default: []].append(bound) }
    }
    all = found
    return found
  }
}

extension Symbol {
  private static let bindings = [STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE].map(UInt8.init)
  private static let types =
    [STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_COMMON, STT_TLS, STT_GNU_IFUNC].map(UInt8.init)

  /// Whether the loader takes it for a definition that others may bind to.
  fileprivate var canBeBoundTo: Bool {
    guard Self.bindings.contains(binding), Self.types.contains(type),
      visibility != UInt8(STV_HIDDEN), visibility != UInt8(STV_INTERNAL)
    else { return false }
    return switch place {
    case .undefined, .common, .indirect: false
    case .absolute: true
    case .section: value != 0 || type == UInt8(STT_TLS)
    }
  }
}
