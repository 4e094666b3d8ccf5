internal import CElf

/// A version of symbols that a file needs of a library, whether it names a symbol of it or not.
package struct NeededVersion: Hashable, Sendable {
  package var name: String
  /// As the file calls it: `DT_NEEDED`.
  package var library: String
  /// Whether the file goes without: `VER_FLG_WEAK`.
  package var isWeak: Bool
}

/// Which version each symbol of a file has: `DT_VERSYM`, `DT_VERDEF`, `DT_VERNEED`.
struct ELFSymbolVersions {
  private let file: ELFFile
  /// Where the number of each symbol's version is; nil where symbols have none.
  private let numbers: UInt64?
  private var names: [UInt16: String] = [:]
  /// The library that each wanted version was linked from.
  private var libraries: [UInt16: String] = [:]

  /// The versions that it defines, its own name among them; nil where it defines none.
  private(set) var defined: Set<String>?
  /// The versions that its libraries must define.
  private(set) var needed: [NeededVersion] = []
  /// The number of the form in which they are written, where it is not 1.
  private(set) var unknownFormat: UInt16?

  /// More versions than any file has, or needs.
  private static let most: UInt64 = 1 << 14

  /// Reads the names of the versions.
  init(of file: ELFFile) throws(ImageError) {
    self.file = file
    guard let dynamic = try file.dynamic(), let symbols = dynamic.symbols else {
      numbers = nil
      return
    }
    numbers = dynamic.value(Int64(DT_VERSYM))
    guard numbers != nil else { return }
    var rest = Self.most
    func walk(
      _ start: UInt64, _ count: UInt64, next: Int, size: Int,
      _ body: (UInt64, Span<UInt8>) throws(ImageError) -> Void
    ) throws(ImageError) {
      var (address, left) = (start, count)
      while left > 0 {
        try file.file.check(
          rest > 0, .malformed, "It claims more than \(Self.most) versions of symbols.")
        (left, rest) = (left - 1, rest - 1)
        let entry = try file.bytes(at: VirtualAddress(rawValue: address), count: size)
        try body(address, entry.span)
        guard let step: UInt32 = entry.span.integer(at: next, order: file.header.order), step > 0
        else { return }
        address &+= UInt64(step)
      }
    }
    func half(_ entry: Span<UInt8>, _ place: Int) -> UInt16 {
      entry.integer(at: place, order: file.header.order) ?? 0
    }
    func word(_ entry: Span<UInt8>, _ place: Int) -> UInt64 {
      UInt64(entry.integer(at: place, as: UInt32.self, order: file.header.order) ?? 0)
    }
    var (names, libraries): ([UInt16: String], [UInt16: String]) = ([:], [:])
    var (defined, needed): (Set<String>?, [NeededVersion]) = (nil, [])
    // The loader follows the distances to the last one, and believes no count.
    if let start = dynamic.value(Int64(DT_VERDEF)) {
      defined = []
      // Elf_Verdef: version, flags, index, count, hash, first name, next. The first name is its own.
      try walk(start, .max, next: 16, size: 20) { address, entry throws(ImageError) in
        let (index, first) = (half(entry, 4) & 0x7fff, address &+ word(entry, 12))
        try walk(first, 1, next: 4, size: 8) { _, name throws(ImageError) in
          let name = try symbols.text(at: word(name, 0))
          names[index] = name
          defined?.insert(name)
        }
      }
    }
    if let start = dynamic.value(Int64(DT_VERNEED)) {
      // Elf_Verneed: version, count, file, first, next; Elf_Vernaux: hash, flags, index, name, next.
      var format: UInt16?
      try walk(start, .max, next: 12, size: 16) { address, entry throws(ImageError) in
        format = format ?? half(entry, 0)
        let (first, library) = (address &+ word(entry, 8), try symbols.text(at: word(entry, 4)))
        try walk(first, .max, next: 12, size: 16) { _, one throws(ImageError) in
          let (index, name) = (half(one, 6) & 0x7fff, try symbols.text(at: word(one, 8)))
          (names[index], libraries[index]) = (name, library)
          let isWeak = half(one, 4) & UInt16(VER_FLG_WEAK) != 0
          needed.append(NeededVersion(name: name, library: library, isWeak: isWeak))
        }
      }
      if format != 1 { unknownFormat = format }
    }
    (self.names, self.libraries) = (names, libraries)
    (self.defined, self.needed) = (defined, needed)
  }

  /// Whether symbols have versions.
  var areThere: Bool { numbers != nil }

  /// Whether versions of the C library are needed, and not the one by which it says that its loader knows `DT_RELR`.
  var lackPackedRelocations: Bool {
    let needed = libraries.filter { $0.value.hasPrefix("libc.so.") }.keys
    return !needed.isEmpty && !needed.contains { names[$0] == "GLIBC_ABI_DT_RELR" }
  }

  /// Sets the version of a symbol; nil for the base one, and where there are none.
  func describe(_ symbol: inout BoundSymbol, _ number: UInt32) throws(ImageError) {
    guard let numbers else { return }
    let place = VirtualAddress(rawValue: numbers &+ 2 &* UInt64(number))
    let value = UInt16(file.header.order.number(of: try file.bytes(at: place, count: 2)[...]))
    // 0 and 1 are no versions: local, and global.
    let index = value & 0x7fff
    if index > 1 { (symbol.version, symbol.library) = (names[index], libraries[index]) }
    // A reference without a version is met by the file's first version, hidden or not.
    symbol.isHidden = value & 0x8000 != 0 && index != 2
  }
}
