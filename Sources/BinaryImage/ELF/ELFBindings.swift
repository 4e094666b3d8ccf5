internal import CElf

/// A symbol that binds images to each other: a file defines it for others, or wants it from them.
package struct BoundSymbol: Hashable, Sendable {
  /// Its name.
  package var name: String
  /// The defined or wanted version; nil if there is none.
  package var version: String?
  /// The name of the library that the wanted version was linked from.
  package var library: String?
  /// The kind of thing that it names; nil if the file does not say.
  package var kind: Kind?
  /// Whether only a reference with the version finds it.
  package var isHidden = false
  /// Whether a file that wants it can do without a definition.
  package var isWeak = false

  /// The kinds of things that symbols name, in words: `STT_FUNC`, `STT_OBJECT`, `STT_TLS`.
  package enum Kind: String, Sendable {
    case function = "a function"
    case data
    case threadLocal = "thread-local data"
  }

  /// Describes a symbol.
  package init(name: String, version: String? = nil) { (self.name, self.version) = (name, version) }

  /// `memcpy@GLIBC_2.14`
  package var title: String { version.map { "\(name)@\($0)" } ?? name }

  /// Returns whether a definition satisfies a file that wants this symbol.
  package func isMet(by definition: BoundSymbol) -> Bool {
    guard name == definition.name else { return false }
    // A definition without versions counts as every version.
    guard let version else { return !definition.isHidden || definition.version == nil }
    return definition.version == version || definition.version == nil && !definition.isHidden
  }
}

/// The symbols that a linked file defines for others and wants from them, as the loader reads it.
package final class ELFBindings {
  private let file: ELFFile
  private let symbols: ELFSymbols?
  private let versions: ELFSymbolVersions
  private var hash: ELFSymbolHash
  /// All definitions, if no table finds them by name.
  private var all: [String: [BoundSymbol]]?
  private var onceWanted = Once<[BoundSymbol]>()

  /// Whether its definitions have versions.
  package var hasVersions: Bool { versions.areThere }
  /// The versions that its libraries must define, except for weak ones, even if no symbol names them.
  package var neededVersions: [NeededVersion] { versions.needed }

  /// Returns whether it defines versions of symbols, but not this one.
  package func lacks(version: String) -> Bool { versions.defined?.contains(version) == false }

  /// Reads the tables of a file.
  package init(of file: ELFFile) throws(ImageError) {
    self.file = file
    symbols = try file.dynamic()?.symbols
    versions = try ELFSymbolVersions(of: file)
    hash = try file.symbolHash()
  }

  /// Returns the symbols that relocations name and other images must define, in the order of the file; on MIPS those
  /// of the global offset table, too.
  ///
  /// The loader never looks for other symbols, whatever the table says.
  package func wanted() throws(ImageError) -> [BoundSymbol] { try onceWanted(readWanted()) }

  private func readWanted() throws(ImageError) -> [BoundSymbol] {
    guard let symbols else { return [] }
    var wanted: [BoundSymbol] = []
    let survey = try file.relocationSurvey()
    // The loader looks these up without a relocation.
    let globals = try file.dynamic()?.globalOffsets?.symbols ?? 0..<0
    for number in survey.symbols.union(globals.map { UInt32(truncatingIfNeeded: $0) }).sorted() {
      let symbol = try symbols.symbol(number)
      // The loader looks for the file's own symbols, too.
      guard symbol.place == .undefined || !hash.isUsed && symbol.isLookedUp else { continue }
      var bound = BoundSymbol(name: symbol.name)
      try versions.describe(&bound, number)
      // The loader calls each slot, defined or not.
      let isStarted = survey.started.contains(number)
      bound.isWeak = symbol.binding == UInt8(STB_WEAK) && !isStarted
      // Linkers give a symbol the type of the definition that they find, however it is used.
      bound.kind = isStarted || survey.called.contains(number) ? .function : symbol.kind
      wanted.append(bound)
    }
    return wanted
  }

  /// Returns the file's definition of a symbol that another file wants.
  package func definition(of wanted: BoundSymbol) throws(ImageError) -> BoundSymbol? {
    guard let candidates = try hash.candidates(for: wanted.name, in: file) else {
      return try allDefinitions()[wanted.name, default: []].first { wanted.isMet(by: $0) }
    }
    for number in candidates {
      if let found = try definition(number), wanted.isMet(by: found) { return found }
    }
    return nil
  }

  /// Returns the names of its definitions that a process has once, whichever files define them: `STB_GNU_UNIQUE`.
  package func unique() throws(ImageError) -> [String] {
    var names: [String] = []
    for number in 0..<hash.count {
      if let symbol = try symbols?.symbol(number), symbol.binding == UInt8(STB_GNU_UNIQUE),
        symbol.canBeBoundTo
      {
        names.append(symbol.name)
      }
    }
    return names
  }

  private func definition(_ number: UInt32) throws(ImageError) -> BoundSymbol? {
    guard let symbol = try symbols?.symbol(number), symbol.canBeBoundTo else { return nil }
    var bound = BoundSymbol(name: symbol.name)
    bound.kind = symbol.kind
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

  fileprivate var kind: BoundSymbol.Kind? {
    switch Int32(type) {
    case STT_FUNC, STT_GNU_IFUNC: .function
    case STT_OBJECT, STT_COMMON: .data
    case STT_TLS: .threadLocal
    default: nil
    }
  }

  /// Whether the loader looks for its name even if the file defines it.
  fileprivate var isLookedUp: Bool { canBeBoundTo && visibility == UInt8(STV_DEFAULT) }

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

/// A version of symbols that a file needs from a library, even if it names no symbol of it. The library has its name in
/// `DT_NEEDED`. The file can do without a weak version, `VER_FLG_WEAK`.
package typealias NeededVersion = (name: String, library: String, isWeak: Bool)

/// The versions of a file's symbols: `DT_VERSYM`, `DT_VERDEF`, `DT_VERNEED`.
///
/// ELF: `gelf_getversym`, `gelf_getverdef`, `gelf_getverneed`.
struct ELFSymbolVersions {
  private let file: OpenedFile
  /// The number of each symbol's version; nil if symbols have none.
  private let numbers: ELFTable<UInt16>?
  private var names: [UInt16: String] = [:]
  /// The library that each wanted version was linked from.
  private var libraries: [UInt16: String] = [:]

  /// The versions that it defines, including its own name; nil if it defines none.
  private(set) var defined: Set<String>?
  /// The versions that its libraries must define.
  private(set) var needed: [NeededVersion] = []
  /// The number of their format, if it is not 1.
  private(set) var unknownFormat: UInt16?

  /// A needed version that has the hash of another name.
  private(set) var misnamed: String?

  /// Reads the names of the versions.
  init(of image: ELFFile) throws(ImageError) {
    file = image.file
    guard let dynamic = try image.dynamic(), let symbols = dynamic.symbols,
      let start = dynamic.value(Int64(DT_VERSYM))
    else {
      numbers = nil
      return
    }
    let extent = try image.segments().extent(from: VirtualAddress(rawValue: start))
    numbers = ELFTable(
      .versions, .stored(extent ?? FileExtent(offset: 0, size: 0)), of: image.file,
      image.header.format)
    // The loader follows the distances to the last one and ignores counts.
    if let start = dynamic.value(Int64(DT_VERDEF)) {
      var (names, defined): ([UInt16: String], Set<String>) = ([:], [])
      var (one, own) = (GElf_Verdef(), GElf_Verdaux())
      let chain = try ELFVersionChain(at: start, of: image, ELF_T_VDEF)
      try chain.follow(from: 0) { offset throws(ImageError) in
        try unsafe chain.read(offset) { unsafe gelf_getverdef($0, $1, &one) != nil }
        // The first name is its own.
        try unsafe chain.read(offset + Int(one.vd_aux)) {
          unsafe gelf_getverdaux($0, $1, &own) != nil
        }
        let name = try symbols.text(at: UInt64(own.vda_name))
        names[one.vd_ndx & 0x7fff] = name
        // The loader compares hashes first.
        if UInt(one.vd_hash) == name.elfHash { defined.insert(name) }
        return one.vd_next
      }
      (self.names, self.defined) = (names, defined)
    }
    if let start = dynamic.value(Int64(DT_VERNEED)) {
      var (names, libraries, needed) = (self.names, [UInt16: String](), [NeededVersion]())
      var misnamed: String?
      var (one, wanted, format) = (GElf_Verneed(), GElf_Vernaux(), UInt16?.none)
      let chain = try ELFVersionChain(at: start, of: image, ELF_T_VNEED)
      try chain.follow(from: 0) { offset throws(ImageError) in
        try unsafe chain.read(offset) { unsafe gelf_getverneed($0, $1, &one) != nil }
        format = format ?? one.vn_version
        let library = try symbols.text(at: UInt64(one.vn_file))
        try chain.follow(from: offset + Int(one.vn_aux)) { place throws(ImageError) in
          try unsafe chain.read(place) { unsafe gelf_getvernaux($0, $1, &wanted) != nil }
          let name = try symbols.text(at: UInt64(wanted.vna_name))
          let number = wanted.vna_other & 0x7fff
          if UInt(wanted.vna_hash) != name.elfHash { misnamed = misnamed ?? name }
          (names[number], libraries[number]) = (name, library)
          needed.append((name, library, wanted.vna_flags & UInt16(VER_FLG_WEAK) != 0))
          return wanted.vna_next
        }
        return one.vn_next
      }
      (self.names, self.libraries, self.needed, self.misnamed) = (
        names, libraries, needed, misnamed
      )
      if format != 1 { unknownFormat = format }
    }
  }

  /// Whether symbols have versions.
  var areThere: Bool { numbers != nil }

  /// Whether it needs versions of the C library, but not the one that says that the loader knows `DT_RELR`.
  var lackPackedRelocations: Bool {
    let needed = libraries.filter { $0.value.hasPrefix("libc.so.") }.keys
    return !needed.isEmpty && !needed.contains { names[$0] == "GLIBC_ABI_DT_RELR" }
  }

  /// Sets the version of a symbol: nil for the base version, and if symbols have none.
  func describe(_ symbol: inout BoundSymbol, _ number: UInt32) throws(ImageError) {
    guard let numbers else { return }
    let value = try numbers.row(Int(number))
    // 0 and 1 are not versions: they mean local and global.
    let index = value & 0x7fff
    if index > 1 {
      let name = names[index]
      try file.check(
        name != nil || names.isEmpty, .malformed,
        "The symbol \(symbol.name) has the version \(index), which nothing describes (DT_VERSYM).")
      (symbol.version, symbol.library) = (name, libraries[index])
    }
    // A reference without a version is met by the file's first version, hidden or not.
    symbol.isHidden = value & 0x8000 != 0 && index != 2
  }
}

extension String {
  /// The hash that the loader compares to find a version, or a symbol of `DT_HASH`. libelf: `elf_hash`.
  fileprivate var elfHash: UInt { unsafe elf_hash(self) }
}

/// A chain of version structures. Each says how far away the next one is.
private final class ELFVersionChain {
  private let capsule: ELFDescriptor
  private let type: Elf_Type
  private let file: OpenedFile
  private let extent: FileExtent
  /// The structures that may still be read: more than any file has.
  private var rest = ELFVersionChain.most
  private static let most = 1 << 14

  init(at start: UInt64, of image: ELFFile, _ type: Elf_Type) throws(ImageError) {
    let (file, format) = (image.file, image.header.format)
    guard let found = try image.segments().extent(from: VirtualAddress(rawValue: start)) else {
      throw file.outsideSegments(VirtualAddress(rawValue: start))
    }
    let held = file.held(at: found.offset, found.size)
    let extent = ELFGuard.versions(in: held, format.order)
    (self.file, self.extent, self.type) = (file, extent, type)
    capsule = try unsafe ELFDescriptor(format, count: Int(extent.size), file.isRefused) {
      room throws(ImageError) in try unsafe file.read(at: extent.offset, into: room)
    }
  }

  /// Calls `body` with the offset of each structure. `body` returns the distance to the next one, 0 after the last.
  func follow(
    from start: Int, _ body: (Int) throws(ImageError) -> Elf64_Word
  ) throws(ImageError) {
    var offset = start
    while true {
      rest -= 1
      try file.check(rest >= 0, .malformed, "It claims more than \(Self.most) versions of symbols.")
      let next = try body(offset)
      guard next > 0 else { return }
      offset += Int(next)
    }
  }

  /// Passes the structure at an offset to `body`.
  func read(
    _ offset: Int, _ body: (UnsafeMutablePointer<Elf_Data>, Int32) -> Bool
  ) throws(ImageError) {
    guard let data = unsafe capsule.data(type), let place = Int32(exactly: offset),
      unsafe body(data, place)
    else {
      throw file.error(
        .malformed,
        "A version of symbols is \(offset) bytes behind the first one, where none can be read.",
        at: extent.offset)
    }
  }
}
