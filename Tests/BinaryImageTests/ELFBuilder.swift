import BinaryImage

/// A linked ELF file made by hand, word for word, for any machine. It has texts, a global offset table, one section of
/// pointers, and a dynamic section that describes them.
///
/// The file is one segment at address 0, so every offset is an address.
struct ELFBuilder {
  /// A relocation, in `DT_REL` or with an addend in `DT_RELA`.
  struct Relocation {
    var place: UInt64
    var symbol: UInt64 = 0
    /// The machine's number; for MIPS64 the first of three, in the lowest byte.
    var type: UInt64
    var addend: UInt64?
  }

  var bits = 64
  var order = ImageIdentity.ByteOrder.little
  var machine: UInt64 = 8
  /// `ET_DYN`.
  var type: UInt64 = 3
  /// The words of `.got` and of `list`.
  var table: [UInt64] = []
  var list: [UInt64] = []
  var relocations: [Relocation] = []
  /// Tags and values in addition to the builder's own for symbols and relocations.
  var tags: [(tag: UInt64, value: UInt64)] = []
  /// The size that the header of `list` claims; nil for the real size.
  var claimedSize: UInt64?

  static let texts: UInt64 = 0x200, table: UInt64 = 0x300, list: UInt64 = 0x400
  /// The addresses of the two texts at `texts`.
  static let first = texts, second = texts + 6
  private static let relocations: UInt64 = 0x800, symbols: UInt64 = 0xa00, names: UInt64 = 0xb00
  private static let dynamic: UInt64 = 0xc00, sectionNames: UInt64 = 0xe00, headers: UInt64 = 0xf00

  private func number(_ value: UInt64, _ size: Int) -> [UInt8] { value.bytes(size, order) }
  private func words(_ values: UInt64...) -> [UInt8] { words(values) }
  private func words(_ values: [UInt64]) -> [UInt8] { values.flatMap { number($0, bits / 8) } }

  private func symbol(_ name: UInt64, _ value: UInt64, _ section: UInt64) -> [UInt8] {
    let (info, place) = ([UInt8(0x11), 0], number(section, 2))
    return bits == 64
      ? number(name, 4) + info + place + words(value, 0)
      : number(name, 4) + words(value, 0) + info + place
  }

  private func bytes(of relocation: Relocation) -> [UInt8] {
    let (symbol, type) = (relocation.symbol, relocation.type)
    var info = words(bits == 64 ? symbol << 32 | type : symbol << 8 | type)
    if machine == 8, bits == 64 {
      // A symbol in the file's byte order, a special symbol, and three types, the first of them last.
      let types = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: type >> $0) }
      info = number(symbol, 4) + types.reversed()
    }
    return words(relocation.place) + info + (relocation.addend.map { words($0) } ?? [])
  }

  private func section(
    _ name: UInt64, _ type: UInt64, _ flags: UInt64, _ offset: UInt64, _ size: UInt64,
    link: UInt64 = 0, entry: UInt64 = 0
  ) -> [UInt8] {
    number(name, 4) + number(type, 4) + words(flags, offset, offset, size) + number(link, 4)
      + number(0, 4) + words(type == 0 ? 0 : 1, entry)
  }

  var bytes: [UInt8] {
    let is64 = bits == 64
    let word = UInt64(bits / 8)
    let entries = relocations.flatMap(bytes(of:))
    let isExplicit = relocations.contains { $0.addend != nil }
    let symbols = symbol(0, 0, 0) + symbol(1, Self.second, 1) + symbol(5, 0, 0)
    var tags = tags
    tags += [(5, Self.names), (6, Self.symbols), (10, 16)]
    tags += [(isExplicit ? 7 : 17, Self.relocations), (isExplicit ? 8 : 18, UInt64(entries.count))]
    let dynamic = words((tags + [(0, 0)]).flatMap { [$0.tag, $0.value] })
    let names = Array("\0.rodata\0.got\0list\0.dynamic\0.shstrtab\0".utf8)
    let sections =
      section(0, 0, 0, 0, 0) + section(1, 1, 2, Self.texts, 32)
      + section(9, 1, 3, Self.table, UInt64(table.count) * word)
      + section(14, 1, 3, Self.list, claimedSize ?? UInt64(list.count) * word, entry: word)
      + section(19, 6, 3, Self.dynamic, UInt64(dynamic.count), entry: word * 2)
      + section(28, 3, 0, Self.sectionNames, UInt64(names.count))
    let size = Self.headers + UInt64(sections.count)
    func segment(_ type: UInt64, _ offset: UInt64, _ size: UInt64) -> [UInt8] {
      is64
        ? number(type, 4) + number(6, 4) + words(offset, offset, offset, size, size, 1)
        : words(type, offset, offset, offset, size, size, 6, 1)
    }
    let segments = segment(1, 0, size) + segment(2, Self.dynamic, UInt64(dynamic.count))
    let header = UInt64(is64 ? 64 : 52)
    var file = [0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, order == .little ? 1 : 2, 1] as [UInt8]
    file += [UInt8](repeating: 0, count: 9)
    file += number(type, 2) + number(machine, 2) + number(1, 4) + words(0, header, Self.headers)
    file += number(0, 4) + number(header, 2) + number(is64 ? 56 : 32, 2) + number(2, 2)
    file += number(is64 ? 64 : 40, 2) + number(6, 2) + number(5, 2)
    for (place, part) in [
      (header, segments), (Self.texts, Array("first\0second\0".utf8)), (Self.table, words(table)),
      (Self.list, words(list)), (Self.relocations, entries), (Self.symbols, symbols),
      (Self.names, Array("\0own\0far\0".utf8)), (Self.dynamic, dynamic),
      (Self.sectionNames, names), (Self.headers, sections),
    ] {
      precondition(file.count <= Int(place), "the parts overlap")
      file += [UInt8](repeating: 0, count: Int(place) - file.count) + part
    }
    return file
  }
}
