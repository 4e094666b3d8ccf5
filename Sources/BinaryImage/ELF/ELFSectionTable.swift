internal import CElf

/// The section headers of a file and their names.
///
/// Most files have no section of the wanted name, so names are compared in place and become texts only on request.
/// `elf_strptr` would make libelf read all names of the file into a copy of its own.
struct ELFSectionTable {
  /// Every header, the null entry included.
  let headers: [GElf_Shdr]
  /// The bytes that hold the names.
  private let names: [UInt8]

  /// The number of sections, the null entry included.
  var count: Int { headers.count }

  /// Takes the headers that libelf reads, and the bytes of the section that holds the names.
  init(_ headers: [GElf_Shdr], names: [UInt8]) { (self.headers, self.names) = (headers, names) }

  /// Names to look for.
  struct Names {
    fileprivate let texts: [[UInt8]]
    /// The common beginning of all of them, which few sections have.
    fileprivate let beginning: [UInt8]

    init(_ names: [String]) {
      texts = names.map { Array($0.utf8) }
      var common = texts.first ?? []
      for text in texts.dropFirst() {
        while !text.starts(with: common) { common.removeLast() }
      }
      beginning = common
    }

    /// `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`.
    static let ofThisProject = Names(SectionNote.names)
  }

  /// Returns the indices of the sections of exactly this name, ascending.
  func indices(named name: String) -> [Int] {
    var found: [Int] = []
    forEach(named: Names([name])) { index, _ in found.append(index) }
    return found
  }

  /// Returns the indices of all sections by their names, ascending; nil if the names are too long to be listed.
  func indicesByName() -> [String: [Int]]? {
    var found: [String: [Int]] = [:]
    var length = 0
    for index in 1..<max(1, count) {
      guard let name = name(of: index) else { continue }
      length += name.utf8.count
      guard length <= plausibleLength else { return nil }
      found[name, default: []].append(index)
    }
    return found
  }

  /// Calls `body` with every section that has a wanted name, ascending, and with the index of that name.
  func forEach(named wanted: Names, _ body: (_ index: Int, _ name: Int) -> Void) {
    let names = names.span
    let beginning = wanted.beginning.span
    let first = beginning.isEmpty ? nil : beginning[0]
    for index in 1..<max(1, count) {
      let offset = Int(headers[index].sh_name)
      guard offset < names.count, first == nil || names[offset] == first,
        names.holds(beginning, at: offset)
      else { continue }
      for name in wanted.texts.indices {
        let text = wanted.texts[name]
        // The end of the text rules out most names.
        guard text.count < names.count - offset, names[offset + text.count] == 0,
          names.holds(text.span, at: offset)
        else { continue }
        body(index, name)
      }
    }
  }

  /// The header of a section.
  subscript(index: Int) -> GElf_Shdr { headers[index] }

  /// Returns whether the name of some section starts with `prefix`.
  func holds(namesStartingWith prefix: String) -> Bool {
    let (names, beginning) = (names.span, Array(prefix.utf8))
    for index in 1..<max(1, count)
    where names.holds(beginning.span, at: Int(headers[index].sh_name)) {
      return true
    }
    return false
  }

  /// Returns whether the name of a section starts with `prefix`.
  func name(of index: Int, startsWith prefix: String) -> Bool {
    names.span.holds(Array(prefix.utf8).span, at: Int(headers[index].sh_name))
  }

  /// Returns whether a section has exactly this name; compares the bytes in place.
  func name(of index: Int, is text: [UInt8]) -> Bool {
    let (names, offset) = (names.span, Int(headers[index].sh_name))
    return names.holds(text.span, at: offset) && names[offset + text.count] == 0
  }

  /// Returns whether the name of a section begins among the names.
  func holdsName(of index: Int) -> Bool { Int(headers[index].sh_name) < names.count }

  /// Returns the name of a section as text; nil if it lies outside the names.
  func name(of index: Int) -> String? {
    range(of: index).map { String(decoding: names.span.extracting($0)) }
  }

  /// Returns the bytes of the name of a section, if they are not UTF-8.
  func nameBytes(of index: Int, _ text: String) -> [UInt8]? {
    // In rare cases the name itself has a replacement character.
    guard text.utf8.contains(0xef), let range = range(of: index) else { return nil }
    let bytes = Array(names[range])
    return text.utf8.elementsEqual(bytes) ? nil : bytes
  }

  private func range(of index: Int) -> Range<Int>? {
    let start = Int(headers[index].sh_name)
    return names.span.textLength(from: start).map { start..<start + $0 }
  }

  /// The most bytes that all names together should have, though they may share bytes.
  var plausibleLength: Int { names.count * 16 + 4096 + count * 64 }

  /// Returns whether an object of these sections has GCC's intermediate code but no code for a machine: `gcc -flto`
  /// without `-ffat-lto-objects`.
  ///
  /// Since GCC 10 a section of its own says so in its fifth byte: `lto_section.slim_object`. In such objects of older
  /// versions, all other sections are empty.
  func isSlimLTO(of file: OpenedFile) throws(ImageError) -> Bool {
    var (hasCode, hasContents) = (false, false)
    for index in 1..<max(1, count) {
      let section = self[index]
      if name(of: index, startsWith: ".gnu.lto_") {
        hasCode = true
        guard name(of: index, startsWith: ".gnu.lto_.lto."), section.sh_size >= 8 else { continue }
        return try file.slice(at: section.sh_offset, count: 8).dropFirst(4).first != 0
      }
      // Slim and other objects both have notes.
      if section.isLoaded, section.sh_size > 0, !hasContents {
        hasContents = !name(of: index, startsWith: ".note")
      }
    }
    return hasCode && !hasContents
  }
}

/// A section header, as libelf reads it.
extension GElf_Shdr {
  /// Whether the file holds the bytes of the section.
  var hasContents: Bool { sh_type != UInt32(SHT_NOBITS) && sh_type != UInt32(SHT_NULL) }
  /// Whether the section is part of the image in memory.
  var isLoaded: Bool { sh_flags & UInt64(SHF_ALLOC) != 0 }
  /// Whether its bytes have to be inflated.
  var isCompressed: Bool { sh_flags & UInt64(SHF_COMPRESSED) != 0 }

  /// Whether the section is executable.
  var isExecutable: Bool { sh_flags & UInt64(SHF_EXECINSTR) != 0 }
  /// The location of the section in the file, as the header claims.
  var extent: FileExtent { FileExtent(offset: sh_offset, size: sh_size) }
  /// The linked addresses of the section.
  var addresses: Range<UInt64> { sh_addr..<sh_addr.saturating(adding: sh_size) }

  /// The flags as `readelf -S` prints them.
  var flagLetters: String { Self.usual[sh_flags] ?? Self.letters(of: sh_flags) }

  /// The letters of flags that most sections have.
  private static let usual = Dictionary(
    uniqueKeysWithValues: [0, 2, 3, 6, 0x30, 0x20_0003].map { ($0, letters(of: $0)) })

  private static func letters(of flags: UInt64) -> String {
    String(letters.filter { flags & $0.flags != 0 }.map(\.letter))
  }

  /// The letters in the order of printing. `o`, `p` and `x` stand for flags without a letter: of the system, of the
  /// processor, and others.
  private static let letters: [(flags: UInt64, letter: Character)] = [
    (0x1, "W"), (0x2, "A"), (0x4, "X"), (0x10, "M"), (0x20, "S"), (0x40, "I"), (0x80, "L"),
    (0x100, "O"), (0x200, "G"), (0x400, "T"), (0x800, "C"), (0x20_0000, "R"), (0x8000_0000, "E"),
    (0x0fd0_0000, "o"), (0x7000_0000, "p"), (~0xfff0_0ff7, "x"),
  ]

  /// Returns the type as `readelf -S` prints it; some numbers depend on the system and the processor.
  func typeName(_ file: ELFHeader) -> String {
    if Int(sh_type) < Self.standard.count, !Self.standard[Int(sh_type)].isEmpty {
      return Self.standard[Int(sh_type)]
    }
    // The types of symbol versions come from Solaris, and have one number everywhere; so has GNU's hash table.
    let isCommon = file.usesCommonNumbers || sh_type >= UInt32(SHT_GNU_HASH)
    return (isCommon ? Self.systems[sh_type] : nil) ?? Self.processors[file.machine]?[sh_type]
      ?? UInt64(sh_type).hexadecimal
  }

  private static let standard = [
    "NULL", "PROGBITS", "SYMTAB", "STRTAB", "RELA", "HASH", "DYNAMIC", "NOTE", "NOBITS", "REL",
    "SHLIB", "DYNSYM", "", "", "INIT_ARRAY", "FINI_ARRAY", "PREINIT_ARRAY", "GROUP", "SYMTAB_SHNDX",
    "RELR",
  ]

  private static let systems: [UInt32: String] = [
    0x4000_0014: "CREL", 0x6000_0001: "ANDROID_REL", 0x6000_0002: "ANDROID_RELA",
    0x6fff_4c00: "LLVM_ODRTAB", 0x6fff_4c01: "LLVM_LINKER_OPTIONS", 0x6fff_4c03: "LLVM_ADDRSIG",
    0x6fff_4c04: "LLVM_DEPENDENT_LIBRARIES", 0x6fff_4c05: "LLVM_SYMPART",
    0x6fff_4c0a: "LLVM_BB_ADDR_MAP", 0x6fff_ff00: "ANDROID_RELR", 0x6fff_fff5: "GNU_ATTRIBUTES",
    0x6fff_fff6: "GNU_HASH", 0x6fff_fff7: "GNU_LIBLIST", 0x6fff_fffd: "VERDEF",
    0x6fff_fffe: "VERNEED", 0x6fff_ffff: "VERSYM",
  ]

  private static let processors: [UInt16: [UInt32: String]] = [
    UInt16(EM_X86_64): [0x7000_0001: "X86_64_UNWIND"],
    UInt16(EM_ARM): [
      0x7000_0001: "ARM_EXIDX", 0x7000_0002: "ARM_PREEMPTMAP", 0x7000_0003: "ARM_ATTRIBUTES",
    ],
    UInt16(EM_AARCH64): [0x7000_0003: "AARCH64_ATTRIBUTES"],
    UInt16(EM_RISCV): [0x7000_0003: "RISCV_ATTRIBUTES"],
    UInt16(EM_MIPS): [
      0x7000_0006: "MIPS_REGINFO", 0x7000_000d: "MIPS_OPTIONS", 0x7000_001e: "MIPS_DWARF",
      0x7000_002a: "MIPS_ABIFLAGS",
    ],
    UInt16(EM_PARISC): [
      0x7000_0000: "PARISC_EXT", 0x7000_0001: "PARISC_UNWIND", 0x7000_0002: "PARISC_DOC",
    ],
  ]
}
