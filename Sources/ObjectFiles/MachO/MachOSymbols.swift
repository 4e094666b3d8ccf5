package import BinaryImage

/// `LC_SYMTAB`: `symoff`, the number of symbols, and `stroff` with `strsize`.
typealias MachOSymbolTable = (offset: UInt64, count: UInt64, names: FileExtent)

/// A reader of symbols, one by one or by name.
final class MachOSymbols {
  private let table: MachOSymbolTable
  private let file: OpenedFile
  private let header: MachOHeader
  private var definitions: [String: UInt64]?
  /// The marks by the ordinal of the section.
  private var marks: [[Mark]]?

  /// The start of a part of an object's section, and whether the symbol there says that it must
  /// be kept.
  typealias Mark = (address: UInt64, isKept: Bool)

  init(_ table: MachOSymbolTable, of file: OpenedFile, _ header: MachOHeader) {
    (self.table, self.file, self.header) = (table, file, header)
  }

  /// Returns the symbol with this number.
  func symbol(_ number: UInt64) throws(ImageError) -> Symbol {
    try file.check(
      number < table.count, .malformed, "Symbol \(number) lies outside the symbol table.",
      at: table.offset)
    let size = header.symbolSize
    let (bytes, position) = try file.load(at: table.offset + number * UInt64(size), count: size)
    let entry = Entry(bytes, at: position, header)
    let name = try file.name(at: UInt64(entry.name), in: table.names)
    return Symbol(number, name: name, value: entry.value, place: entry.place)
  }

  /// Returns the address of the symbol that this image defines for others by this name; nil if there is none.
  func definition(of name: String) throws(ImageError) -> UInt64? {
    if let definitions { return definitions[name] }
    var found: [String: UInt64] = [:]
    // Names may share bytes, but only as much as compilers make of that.
    var budget = table.names.size.saturating(adding: 4096) &* 16
    try forEachEntry { entry throws(ImageError) in
      guard entry.isExternal, case .section = entry.place else { return }
      let own = try file.name(at: UInt64(entry.name), in: table.names)
      try file.check(
        own.utf8.count < budget, .malformed,
        "Too many symbols share one name table.", at: table.offset)
      budget -= UInt64(own.utf8.count)
      found[own] = entry.value
    }
    definitions = found
    return found[name]
  }

  /// Returns the marks in a section of an object, in the order of their addresses. One pass over the symbols serves all
  /// sections.
  func marks(inSection ordinal: Int) throws(ImageError) -> [Mark] {
    // A symbol names its section with one byte.
    guard ordinal <= Int(UInt8.max) else { return [] }
    if let marks { return marks[ordinal] }
    var found = [[Mark]](repeating: [], count: Int(UInt8.max) + 1)
    try forEachEntry { entry in
      guard case .section(let ordinal) = entry.place, entry.beginsPart else { return }
      found[ordinal].append((entry.value, entry.isKept))
    }
    for ordinal in found.indices { found[ordinal].sort { $0.address < $1.address } }
    marks = found
    return found[ordinal]
  }

  /// Returns the names of symbols at addresses, the first one at each.
  func names(at addresses: Set<UInt64>) throws(ImageError) -> [UInt64: String] {
    var names: [UInt64: String] = [:]
    try forEachEntry { entry throws(ImageError) in
      guard entry.type & 0xe0 == 0, case .section = entry.place, addresses.contains(entry.value),
        names[entry.value] == nil
      else { return }
      names[entry.value] = try file.name(at: UInt64(entry.name), in: table.names)
    }
    return names
  }

  private func forEachEntry(_ body: (Entry) throws(ImageError) -> Void) throws(ImageError) {
    let size = header.symbolSize
    let extent = FileExtent(offset: table.offset, size: table.count * UInt64(size))
    try file.forEachPiece(of: extent, entry: size) { bytes throws(ImageError) in
      for position in stride(from: 0, to: bytes.count, by: size) {
        try body(Entry(bytes, at: position, header))
      }
    }
  }
}

/// One `nlist` or `nlist_64`.
private struct Entry {
  let name: UInt32
  let type: UInt8
  let section: UInt8
  let description: UInt16
  let value: UInt64

  /// Reads the entry at `position`; the caller has checked that there is one.
  init(_ bytes: [UInt8], at position: Int, _ header: MachOHeader) {
    name = bytes.span.integer(at: position, order: header.order) ?? 0
    (type, section) = (bytes[position + 4], bytes[position + 5])
    description = bytes.span.integer(at: position + 6, order: header.order) ?? 0
    value = bytes.span.word(at: position + 8, bits: header.bits, order: header.order) ?? 0
  }

  /// `N_EXT`, and no entry for debuggers.
  var isExternal: Bool { type & 1 != 0 && type & 0xe0 == 0 }

  /// Whether a linker may cut here: no entry for debuggers, and no `N_ALT_ENTRY`.
  var beginsPart: Bool { type & 0xe0 == 0 && description & 0x200 == 0 }

  /// `N_NO_DEAD_STRIP`, of an object.
  var isKept: Bool { description & 0x20 != 0 }

  var place: Symbol.Place {
    switch type & 0xe {
    case 0x2: .absolute
    case 0xa: .indirect
    case 0xe: .section(Int(section))
    case 0 where value != 0 && isExternal: .common
    default: .undefined
    }
  }
}

/// The parts of an object that a linker keeps though nothing refers to them.
///
/// C's `used` marks symbols, not their section: `N_NO_DEAD_STRIP`. A linker takes a section apart at its symbols and
/// keeps parts one by one, so all must be marked.
extension MachOFile {
  /// Returns whether an object's section, or all parts of it, are marked.
  package func isRetained(_ section: Section) throws(ImageError) -> Bool {
    guard header.isObject, !section.isRetained, section.size > 0 else { return section.isRetained }
    guard let symbols = try symbols.get() else { return false }
    let start = try sectionEntry(section.index).address
    let marks = try symbols.marks(inSection: section.index)
    // Without this flag, any section is one part.
    guard header.isDivisible else { return marks.contains(where: \.isKept) }
    // Bytes before the first symbol belong to no symbol. If several symbols are at one address, one mark is enough,
    // because assemblers put names of their own there.
    var (place, isKept) = (start, false)
    for mark in marks {
      if mark.address != place, !isKept { return false }
      isKept = mark.isKept || (isKept && mark.address == place)
      place = mark.address
    }
    return isKept
  }
}
