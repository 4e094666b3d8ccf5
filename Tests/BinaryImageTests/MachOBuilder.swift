import BinaryImage
import ObjectFiles

/// A linked Mach-O file made by hand, byte for byte. It has texts in `__TEXT`, one section of pointers to them in
/// `__DATA`, and fixups of any age.
///
/// No linker here writes most of these fixups. The builder follows Apple's header files, independently of the reader.
struct MachOBuilder {
  /// The contents of a word of the section.
  enum Slot: Sendable {
    case text(String)
    /// The same, signed by the loader: only for arm64e.
    case signed(String)
    case symbol(String, library: Int = 1, addend: Int64 = 0)
    case null
    /// A word that no fixup covers.
    case number(UInt64)
  }

  enum Fixups: Sendable, Equatable {
    case chained(UInt16)
    case programs
    case classic
    case none
  }

  var bits = 64
  var order = ImageIdentity.ByteOrder.little
  var machine: UInt32 = 0x0100_000c
  var subtype: UInt32 = 0
  var type: UInt32 = 6
  var flags: UInt32 = 0x20_0085
  var base: UInt64 = 0x1_0000_0000
  var slots: [Slot] = [.text("ShopModule"), .text("Cart.CartModule")]
  var fixups = Fixups.chained(6)
  /// The number of pages of the section's chains.
  var chainPages = 1
  /// `DYLD_CHAINED_IMPORT`, `_ADDEND`, `_ADDEND64`.
  var importFormat: UInt32 = 1
  /// The `cryptid` of everything in `__TEXT` after the load commands.
  var encryption: UInt32 = 0
  /// Texts that this file exports as symbols, by name.
  var definitions: [String: String] = [:]
  /// Programs that replace those made for the slots.
  var rebaseProgram: [UInt8]?
  var bindProgram: [UInt8]?
  /// A program of weak binds. The slots make none.
  var weakProgram: [UInt8] = []
  /// `S_NON_LAZY_SYMBOL_POINTERS` and the like: the type of the section of pointers.
  var sectionType: UInt64 = 0
  /// The indirect symbol table, and the section's first entry in it.
  var indirect: [UInt32] = []
  var indirectStart: UInt64 = 0

  private var isObject: Bool { type == 1 }

  /// Makes an object with two pointers to texts, one relocated by section and one by symbol.
  ///
  /// No compiler here writes objects for machines with the other byte order.
  static func object(
    bits: Int = 64, order: ImageIdentity.ByteOrder = .little, machine: UInt32 = 0x0100_000c
  ) -> MachOBuilder {
    var builder = MachOBuilder(bits: bits, order: order, machine: machine, type: 1, flags: 0)
    if bits == 32 { builder.base = 0x4000 }
    (builder.slots, builder.fixups) = ([.text("ShopModule"), .symbol("_cart")], .classic)
    builder.definitions = ["_cart": "Cart.CartModule"]
    return builder
  }

  static let page: UInt64 = 0x1000
  /// The offset of the texts.
  static let texts: UInt64 = 0x800

  // MARK: - Numbers

  func number(_ value: UInt64, _ size: Int) -> [UInt8] { value.bytes(size, order) }
  private func word(_ value: UInt64) -> [UInt8] { number(value, bits / 8) }
  private func long(_ value: UInt64) -> [UInt8] { number(value, 4) }
  /// Returns a name padded to the sixteen bytes of a header field.
  static func name(_ text: String) -> [UInt8] {
    Array(text.utf8) + [UInt8](repeating: 0, count: 16 - text.utf8.count)
  }
  static func uleb(_ value: UInt64) -> [UInt8] {
    var (rest, bytes) = (value, [UInt8]())
    repeat {
      bytes.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    return bytes
  }

  // MARK: - Texts and symbols

  private var texts: [String] {
    let own = slots.compactMap { slot -> String? in
      switch slot {
      case .text(let text), .signed(let text): text
      default: nil
      }
    }
    return own + definitions.sorted { $0.key < $1.key }.map(\.value)
  }

  private var textBytes: [UInt8] { texts.flatMap { Array($0.utf8) + [0] } }

  /// Returns the address of the text of that number.
  private func address(ofText index: Int) -> UInt64 {
    base + Self.texts + UInt64(texts[..<index].reduce(0) { $0 + $1.utf8.count + 1 })
  }

  private var imports: [(name: String, library: Int, addend: Int64)] {
    slots.compactMap { slot in
      if case .symbol(let name, let library, let addend) = slot {
        (name, library, addend)
      } else {
        nil
      }
    }
  }

  // MARK: - The words of the section

  /// The word of each slot. The fixups decide which words form a chain.
  private var words: [UInt64] {
    var (text, symbol) = (0, 0)
    return slots.indices.map { index in
      switch slots[index] {
      case .text, .signed:
        defer { text += 1 }
        let isSigned = if case .signed = slots[index] { true } else { false }
        return packed(address(ofText: text), step: step(from: index), isSigned: isSigned)
      case .symbol(_, _, let addend):
        defer { symbol += 1 }
        return packedBind(symbol, addend: addend, step: step(from: index))
      case .null: return 0
      case .number(let value): return value
      }
    }
  }

  private func isFixed(_ index: Int) -> Bool {
    switch slots[index] {
    case .null, .number: false
    default: true
    }
  }

  /// Returns the distance in bytes to the next word of the chain; 0 at its end.
  private func step(from index: Int) -> UInt64 {
    let next = slots.indices.first { $0 > index && isFixed($0) }
    let most = Int(Self.page) / chainPages * 8 / bits
    return next.map { $0 / most > index / most ? 0 : UInt64(($0 - index) * bits / 8) } ?? 0
  }

  private func packed(_ address: UInt64, step: UInt64, isSigned: Bool) -> UInt64 {
    guard case .chained(let format) = fixups else { return address }
    let offset = address - base
    return switch format {
    case 2: address | (step / 4) << 51
    case 3: address | (step / 4) << 26
    case 6: offset | (step / 4) << 51
    default:
      isSigned
        ? offset | 0xcafe << 32 | (step / 8) << 51 | 1 << 63
        : (format == 1 ? address : offset) | (step / 8) << 51
    }
  }

  private func packedBind(_ ordinal: Int, addend: Int64, step: UInt64) -> UInt64 {
    guard case .chained(let format) = fixups else {
      return fixups == .classic ? UInt64(bitPattern: addend) : 0
    }
    let (ordinal, addend) = (UInt64(ordinal), UInt64(bitPattern: importFormat == 1 ? addend : 0))
    return switch format {
    case 2, 6: ordinal | (addend & 0xff) << 24 | (step / 4) << 51 | 1 << 63
    case 3: ordinal | (addend & 0x3f) << 20 | (step / 4) << 26 | 1 << 31
    default: ordinal | (addend & 0x7_ffff) << 32 | (step / 8) << 51 | 1 << 62
    }
  }

  // MARK: - Tables of the loader

  private var chains: [UInt8] {
    guard case .chained(let format) = fixups else { return [] }
    let first = slots.indices.first(where: isFixed).map { UInt64($0 * bits / 8) } ?? 0xffff
    // Three segments. The second has fixups in its one page.
    let segment =
      long(22 + 2 * UInt64(chainPages)) + number(Self.page / UInt64(chainPages), 2)
      + number(UInt64(format), 2) + number(Self.page, 8) + long(format == 3 ? 0x3ff_ffff : 0)
      + number(UInt64(chainPages), 2) + (0..<chainPages).flatMap { number($0 == 0 ? first : 0, 2) }
    let starts = long(3) + long(0) + long(16) + long(0) + segment
    var (names, table) = ([UInt8](), [UInt8]())
    for entry in imports {
      let place = UInt64(names.count)
      let library = UInt64(bitPattern: Int64(entry.library))
      switch importFormat {
      case 1: table += long(library & 0xff | place << 9)
      case 2: table += long(library & 0xff | place << 9) + long(UInt64(bitPattern: entry.addend))
      default:
        table += number(library & 0xffff | place << 32, 8)
        table += number(UInt64(bitPattern: entry.addend), 8)
      }
      names += Array(entry.name.utf8) + [0]
    }
    let tableStart = 32 + UInt64(starts.count)
    return long(0) + long(32) + long(tableStart) + long(tableStart + UInt64(table.count))
      + long(UInt64(imports.count)) + long(UInt64(importFormat)) + long(0) + long(0) + starts
      + table + names
  }

  private var rebases: [UInt8] {
    guard fixups == .programs else { return [] }
    if let rebaseProgram { return rebaseProgram }
    return [0x11]
      + slots.indices.flatMap { index -> [UInt8] in
        if case .text = slots[index] {
          [0x21] + Self.uleb(UInt64(index * bits / 8)) + [0x51]
        } else {
          []
        }
      } + [0]
  }

  private var binds: [UInt8] {
    guard fixups == .programs else { return [] }
    if let bindProgram { return bindProgram }
    return slots.indices.flatMap { index -> [UInt8] in
      guard case .symbol(let name, let library, let addend) = slots[index] else { return [] }
      let own = library < 0 ? [0x30 | UInt8(library & 0xf)] : [0x10 | UInt8(library)]
      return own + [0x40] + Array(name.utf8) + [0, 0x51, 0x60, UInt8(addend & 0x7f), 0x71]
        + Self.uleb(UInt64(index * bits / 8)) + [0x90]
    } + [0]
  }

  /// Relocations by address: of symbols, and of texts. Together they are in reverse order, as assemblers write them.
  private var classic: (external: [UInt8], local: [UInt8]) {
    guard fixups == .classic else { return ([], []) }
    var (external, local, symbol) = ([UInt8](), [UInt8](), UInt64(0))
    let length: UInt64 = bits == 64 ? 3 : 2
    // x86_64 counts from the first writable segment, objects from the section.
    let origin = machine == 0x0100_0007 || isObject ? 0 : Self.page
    let defined = definitions.keys.sorted()
    for index in slots.indices where isFixed(index) {
      let place = long(origin + UInt64(index * bits / 8))
      if case .symbol(let name, _, _) = slots[index] {
        let own = defined.firstIndex(of: name).map { UInt64(imports.count + $0) }
        external += place + relocation(own ?? symbol, length, isExternal: true)
        symbol += 1
      } else {
        local += place + relocation(1, length, isExternal: false)
      }
    }
    return (external, local)
  }

  /// Returns the second word of a relocation. Its bit fields are reversed in the other byte order.
  private func relocation(_ number: UInt64, _ length: UInt64, isExternal: Bool) -> [UInt8] {
    let external: UInt64 = isExternal ? 1 : 0
    return order == .little
      ? long(number | length << 25 | external << 27)
      : long(number << 8 | length << 5 | external << 4)
  }

  private var symbols: (entries: [UInt8], names: [UInt8]) {
    var (entries, names) = ([UInt8](), [UInt8]([0]))
    func add(_ name: String, type: UInt8, section: UInt8, value: UInt64) {
      entries += long(UInt64(names.count)) + [type, section, 0, 0] + word(value)
      names += Array(name.utf8) + [0]
    }
    for entry in imports { add(entry.name, type: 1, section: 0, value: 0) }
    let first = texts.count - definitions.count
    for (index, name) in definitions.keys.sorted().enumerated() {
      add(name, type: 0xf, section: 1, value: address(ofText: first + index))
    }
    return (entries, names)
  }

  // MARK: - The file

  var bytes: [UInt8] {
    var linkEdit: [UInt8] = []
    /// Adds a table and returns its offset and number of entries.
    func place(_ bytes: [UInt8], of size: Int = 1) -> [UInt8] {
      while linkEdit.count % 8 != 0 { linkEdit.append(0) }
      defer { linkEdit += bytes }
      let offset = bytes.isEmpty ? 0 : 2 * Self.page + UInt64(linkEdit.count)
      return long(offset) + long(UInt64(bytes.count / size))
    }
    func command(_ number: UInt64, _ rest: [UInt8]) -> [UInt8] {
      long(number) + long(UInt64(rest.count) + 8) + rest
    }
    let contents = words.flatMap(word)
    let (entries, names) = symbols
    let (external, local) = isObject ? ([], []) : classic
    let ofSection = place(isObject ? classic.external + classic.local : [], of: 8)
    var tables = [
      command(0x2, place(entries, of: bits == 64 ? 16 : 12) + place(names)),
      command(
        0xb,
        [UInt8](repeating: 0, count: 48) + place(indirect.flatMap { long(UInt64($0)) }, of: 4)
          + place(external, of: 8) + place(local, of: 8)),
    ]
    tables.append(command(0x1b, (1...16).map { UInt8($0) }))
    switch fixups {
    case .chained: tables.append(command(0x8000_0034, place(chains)))
    case .programs:
      let eager = place(rebases) + place(binds)
      tables.append(
        command(0x8000_0022, eager + place(weakProgram) + [UInt8](repeating: 0, count: 16)))
    case .classic, .none: break
    }
    if encryption != 0 {
      let rest = bits == 64 ? long(0) : []
      tables.append(
        command(
          bits == 64 ? 0x2c : 0x21, long(Self.texts) + long(0x800) + long(UInt64(encryption)) + rest
        ))
    }
    let segments =
      segment("__TEXT", at: 0, 5, section: ("__cstring", Self.texts, textBytes.count, 2))
      + segment(
        "__DATA", at: Self.page, 3,
        section: ("BeehiveMods", Self.page, contents.count, sectionType),
        relocations: ofSection)
      + segment("__LINKEDIT", at: 2 * Self.page, 1, size: UInt64(linkEdit.count))
    let commands = segments + tables.flatMap { $0 }
    var file = long(bits == 64 ? 0xfeed_facf : 0xfeed_face) + long(UInt64(machine))
    file += long(UInt64(subtype)) + long(UInt64(type)) + long(UInt64(3 + tables.count))
    file += long(UInt64(commands.count)) + long(UInt64(flags)) + (bits == 64 ? long(0) : [])
    file += commands
    func pad(to size: UInt64) { file += [UInt8](repeating: 0, count: Int(size) - file.count) }
    pad(to: Self.texts)
    file += textBytes
    pad(to: Self.page)
    file += contents
    pad(to: 2 * Self.page)
    return file + linkEdit
  }

  private func segment(
    _ title: String, at offset: UInt64, _ protection: UInt64, size: UInt64 = Self.page,
    section: (name: String, offset: UInt64, size: Int, flags: UInt64)? = nil,
    relocations: [UInt8] = [UInt8](repeating: 0, count: 8)
  ) -> [UInt8] {
    var rest = Self.name(title) + word(base + offset) + word(Self.page) + word(offset) + word(size)
    rest += long(protection) + long(protection) + long(section == nil ? 0 : 1) + long(0)
    if let section {
      rest += Self.name(section.name) + Self.name(title) + word(base + section.offset)
      rest += word(UInt64(section.size)) + long(section.offset) + long(3) + relocations
      rest += long(section.flags) + long(indirectStart)
      rest += [UInt8](repeating: 0, count: bits == 64 ? 8 : 4)
    }
    return long(bits == 64 ? 0x19 : 0x1) + long(UInt64(rest.count) + 8) + rest
  }
}

extension [UInt8] {
  /// Returns the offset of the load command of this number in a 64-bit file.
  func command(_ number: UInt64) -> Int {
    var place = 32
    while self.number(4, at: place) != number { place += Int(self.number(4, at: place + 4)) }
    return place
  }
}
