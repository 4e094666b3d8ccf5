internal import BinaryImage

/// One `section` or `section_64` of a segment.
struct MachOSection {
  /// `sectname`, `segname`.
  let name: String, segment: String
  /// `addr`; in an object an address of the one space that all its sections share.
  let address: UInt64
  /// `size`.
  let size: UInt64
  /// `offset`; nil where the file has no bytes of the section.
  let offset: UInt64?
  /// `reloff`, `nreloc`: only objects have any.
  let relocationOffset: UInt64, relocationCount: UInt64
  /// Two to the power of `align`.
  let alignment: UInt64
  /// `reserved1`: of symbol pointers the first entry in the indirect symbol table.
  let indirectStart: UInt64
  /// `reserved2`: of stubs the size of each.
  private let stubSize: UInt64
  /// `flags`: the type and the attributes.
  let flags: UInt32
  /// The segment whose command tells of it, by its position.
  let owner: Int

  /// The sections of a segment, the next in order, whose size its command must have exactly.
  static func all(
    of segment: MachOSegment, at index: Int, _ fields: MachOFields, isSplit: Bool
  ) throws(MachOFields.TooShort) -> [MachOSection] {
    let word = fields.bits / 8
    let stride = fields.bits == 64 ? 80 : 68
    let start = 40 + 4 * word
    let count = Int(try fields.single(start - 8))
    // The loader counts them by the size too, and refuses what has another number.
    guard fields.count - start == count * stride else { throw MachOFields.TooShort() }
    return try (0..<count).map { number throws(MachOFields.TooShort) in
      try MachOSection(
        fields, at: start + number * stride, word: word, in: segment, at: index, isSplit: isSplit)
    }
  }

  private init(
    _ fields: MachOFields, at place: Int, word: Int, in owner: MachOSegment, at index: Int,
    isSplit: Bool
  ) throws(MachOFields.TooShort) {
    let rest = place + 32 + 2 * word
    (name, segment) = (try fields.name(place), try fields.name(place + 16))
    (address, size) = (try fields.word(place + 32), try fields.word(place + 32 + word))
    alignment = 1 << min(try fields.number(rest + 4), 63)
    (relocationOffset, relocationCount) = (
      try fields.number(rest + 8), try fields.number(rest + 12)
    )
    flags = try fields.single(rest + 16)
    (indirectStart, stubSize) = (try fields.number(rest + 20), try fields.number(rest + 24))
    self.owner = index
    let start = try fields.number(rest)
    // Split debug information keeps all sections. The segments are empty there, or hold __eh_frame alone.
    let isElsewhere =
      isSplit ? !owner.stores(start) : owner.fileSize == 0 && owner.memorySize > 0
    offset = Self.zeroed.contains(flags & 0xff) || isElsewhere ? nil : start
  }

  /// `S_ZEROFILL`, `S_GB_ZEROFILL` and `S_THREAD_LOCAL_ZEROFILL`: zeros that no file stores.
  private static let zeroed: Set<UInt32> = [0x1, 0xc, 0x12]

  /// Whether an address lies in the section.
  func holds(_ place: UInt64) -> Bool { place >= address && place - address < size }

  /// `S_ATTR_NO_DEAD_STRIP`.
  var isRetained: Bool { flags & 0x1000_0000 != 0 }

  /// The type, by the name that Apple's assembler takes.
  var typeName: String {
    let type = flags & 0xff
    return Int(type) < Self.types.count ? Self.types[Int(type)] : "type_\(type)"
  }

  /// Whether the indirect symbol table names what each word leads to: `S_NON_LAZY_SYMBOL_POINTERS`,
  /// `S_LAZY_SYMBOL_POINTERS`, `S_LAZY_DYLIB_SYMBOL_POINTERS`, `S_THREAD_LOCAL_VARIABLE_POINTERS`.
  var holdsSymbolPointers: Bool { [0x6, 0x7, 0x10, 0x14].contains(flags & 0xff) }

  /// Whether the section is run: `S_ATTR_PURE_INSTRUCTIONS`, `S_ATTR_SOME_INSTRUCTIONS`.
  var holdsCode: Bool { flags & 0x8000_0400 != 0 }

  /// The size of each entry, by the type; 0 where that says nothing.
  var entrySize: UInt64 {
    switch flags & 0xff {
    case 0x3: 4
    case 0x4: 8
    case 0xe: 16
    case 0x8: stubSize
    default: 0
    }
  }

  /// The type and the attributes, by the names that Apple's assembler takes.
  var flagNames: String {
    var names = [typeName]
    names += Self.attributes.filter { flags >> $0.bit & 1 != 0 }.map(\.name)
    return names.joined(separator: ",")
  }

  private static let types = [
    "regular", "zerofill", "cstring_literals", "4byte_literals", "8byte_literals",
    "literal_pointers", "non_lazy_symbol_pointers", "lazy_symbol_pointers", "symbol_stubs",
    "mod_init_funcs", "mod_term_funcs", "coalesced", "gb_zerofill", "interposing",
    "16byte_literals", "dtrace_dof", "lazy_dylib_symbol_pointers", "thread_local_regular",
    "thread_local_zerofill", "thread_local_variables", "thread_local_variable_pointers",
    "thread_local_init_function_pointers", "init_func_offsets",
  ]

  private static let attributes: [(bit: UInt32, name: String)] = [
    (31, "pure_instructions"), (30, "no_toc"), (29, "strip_static_syms"), (28, "no_dead_strip"),
    (27, "live_support"), (26, "self_modifying_code"), (25, "debug"), (10, "some_instructions"),
    (9, "ext_reloc"), (8, "loc_reloc"),
  ]
}
