internal import CElf

/// The name of a machine, and its relocations that write a pointer.
///
/// The numbers come from each machine's ELF supplement; another machine takes one more line.
package struct ELFMachine {
  /// At most three relocation types. Not an array: threads that read files share the tables, and would wait for each
  /// other to count the references.
  package struct Types: ExpressibleByArrayLiteral {
    /// The usual type.
    let first: UInt32
    private let second: UInt32
    /// The last type.
    let last: UInt32

    package init(arrayLiteral types: UInt32...) {
      first = types[0]
      (second, last) = (types.count > 1 ? types[1] : first, types.last ?? first)
    }

    func contains(_ type: UInt32) -> Bool { type == first || type == second || type == last }
  }

  /// The relocation types that make a word an address.
  package struct RelocationTypes {
    /// The word is an address of this image: `R_*_RELATIVE`.
    let relative: Types
    /// The word is a symbol's address: `R_*_64`, `R_*_ABS64`, `R_*_32`, aligned or not.
    let word: Types
    /// The same, in the global offset table: `R_*_GLOB_DAT`, and last `R_*_JUMP_SLOT` for functions that are called.
    let table: Types
    /// Another image's data is copied here: `R_*_COPY`.
    let copy: UInt32
    /// A function chooses the address at load time: `R_*_IRELATIVE`, `R_*_JMP_IREL`.
    let chosen: Types?

    /// Returns whether a type makes a word the address of something.
    func writesAddress(_ type: UInt32) -> Bool {
      relative.contains(type) || word.contains(type) || table.contains(type)
    }
  }

  /// The ways to split `r_info`.
  package enum Info {
    /// As ELF says: 32 bits each in a 64-bit file, 24 and 8 in a 32-bit one.
    case standard
    /// Three types of 8 bits each, and a special symbol: MIPS64.
    case threeTypes
    /// The type is the low byte, data of its own above: SPARC64.
    case lowByte
  }

  /// The name that `section-dump` prints.
  package private(set) var name: String
  /// The prefix of its relocation types' names: `X86_64` of `R_X86_64_64`.
  let prefix: String
  /// The relocation types; nil if this reader does not know them.
  package let relocationTypes: RelocationTypes?
  /// The way to split `r_info`.
  package let info: Info
  private var format = ELFFormat(bits: 64, order: .little, machine: 0)

  /// Looks up `e_machine` for a class and a byte order.
  package init(number: UInt16, bits: Int, order: ImageIdentity.ByteOrder) {
    self.init(ELFFormat(bits: bits, order: order, machine: number))
  }

  /// Looks up the machine of a format.
  init(_ format: ELFFormat) {
    let (number, bits) = (format.machine, format.bits)
    let known = Self.known.first { $0.number == Int32(number) && ($0.bits ?? bits) == bits }
    self = known?.machine ?? Self("machine-\(number)", "", nil)
    if Int32(number) == EM_PPC64, format.order == .little { name += "le" }
    self.format = format
  }

  private init(
    _ name: String, _ prefix: String, _ types: RelocationTypes?, _ info: Info = .standard
  ) {
    (self.name, self.prefix, relocationTypes, self.info) = (name, prefix, types, info)
  }

  /// Makes a machine with its relocation types: relative, of a word, of a table, of a copy, and chosen.
  private init(
    _ name: String, _ prefix: String, _ relative: Types, _ word: Types, _ table: Types,
    _ copy: UInt32, _ chosen: Types? = nil, _ info: Info = .standard
  ) {
    let types = RelocationTypes(
      relative: relative, word: word, table: table, copy: copy, chosen: chosen)
    self.init(name, prefix, types, info)
  }

  /// The known machines, by `e_machine`, and by the class if it matters.
  private static let known: [(number: Int32, bits: Int?, machine: ELFMachine)] = [
    (EM_X86_64, 64, Self("x86_64", "X86_64", [8, 38], [1], [6, 7], 5, [37])),
    (EM_X86_64, nil, Self("x86_64", "X86_64", [8, 38], [10], [6, 7], 5, [37])),
    (EM_386, nil, Self("i386", "386", [8], [1], [6, 7], 5, [42])),
    (EM_AARCH64, 64, Self("aarch64", "AARCH64", [1027], [257], [1025, 1026], 1024, [1032])),
    (EM_AARCH64, nil, Self("aarch64", "AARCH64_P32", [183], [1], [181, 182], 180, [188])),
    (EM_ARM, nil, Self("arm", "ARM", [23], [2, 38], [21, 22], 20, [160])),
    (EM_S390, 64, Self("s390x", "390", [12], [22], [10, 11], 9, [61])),
    (EM_S390, nil, Self("s390", "390", [12], [4], [10, 11], 9, [61])),
    (EM_PPC64, nil, Self("ppc64", "PPC64", [22], [38, 43], [20, 21], 19, [247, 248])),
    (EM_PPC, nil, Self("ppc", "PPC", [22], [1, 24], [20, 21], 19, [248])),
    (EM_RISCV, 64, Self("riscv64", "RISCV", [3], [2], [5], 4, [58])),
    (EM_RISCV, nil, Self("riscv32", "RISCV", [3], [1], [5], 4, [58])),
    (EM_LOONGARCH, 64, Self("loongarch64", "LARCH", [3], [2], [5], 4, [12])),
    (EM_LOONGARCH, nil, Self("loongarch32", "LARCH", [3], [1], [5], 4, [12])),
    (
      EM_SPARCV9, nil,
      Self("sparc64", "SPARC", [22], [32, 54], [20, 21], 19, [248, 249], .lowByte)
    ),
    (EM_SPARC, nil, Self("sparc", "SPARC", [22], [3, 23], [20, 21], 19, [248, 249])),
    (EM_SPARC32PLUS, nil, Self("sparc", "SPARC", [22], [3, 23], [20, 21], 19, [248, 249])),
    // R_MIPS_REL32, in 64-bit files followed by R_MIPS_64; relative if it names no symbol.
    (EM_MIPS, 64, Self("mips64", "MIPS", [3 | 18 << 8], [18], [51, 127], 126, nil, .threeTypes)),
    (EM_MIPS, nil, Self("mips", "MIPS", [3], [2], [51, 127], 126)),
    // R_PARISC_DIR32, PLABEL32 and IPLT: an address, a function's descriptor, an entry that calls it; relative if they
    // name no symbol.
    (EM_PARISC, 64, Self("hppa64", "PARISC", [80, 64, 129], [80], [129], 128)),
    (EM_PARISC, nil, Self("hppa", "PARISC", [1, 65, 129], [1], [129], 128)),
    (EM_ALPHA, nil, Self("alpha", "ALPHA", [27], [2], [25, 26], 24)),
    (EM_68K, nil, Self("m68k", "68K", [22], [1], [20, 21], 19)),
    (EM_SH, nil, Self("sh", "SH", [165], [1], [163, 164], 162)),
    (EM_ARC_COMPACT, nil, Self("arc", "ARC", [56], [4, 27], [54, 55], 53)),
    (EM_ARCV2, nil, Self("arc", "ARC", [56], [4, 27], [54, 55], 53)),
  ]

  /// The alignment of pointers, if it is not their size.
  var pointerAlignment: Int? { prefix == "68K" ? 2 : nil }

  /// Whether bit 1 of a function's address says that the function's descriptor is there: `R_PARISC_PLABEL32`.
  var marksDescriptors: Bool { prefix == "PARISC" && format.bits == 32 }

  /// Whether the word of an object is added to the addend of a relocation that has one: BFD's `partial_inplace`.
  var addsWordInObjects: Bool { prefix == "SH" }

  /// Whether glibc's loader reads only relocations with addends of their own: `ELF_MACHINE_NO_REL`.
  var hasExplicitAddends: Bool { !["", "386", "ARM", "MIPS"].contains(prefix) }

  /// Returns whether glibc's loader knows a relocation type; true for machines whose types are not listed.
  func isKnownToLoader(_ type: UInt32) -> Bool {
    switch prefix {
    case "X86_64":
      switch type {
      case 0...2, 5...8, 10, 16...18, 32, 33, 36...38: true
      default: false
      }
    case "AARCH64":
      switch type {
      case 0, 257, 258, 1024...1032: true
      default: false
      }
    default: true
    }
  }

  /// Whether to read `r_info` as it is in the file: versions of libelf disagree about that of mips64el.
  var hasRawInfo: Bool { info == .threeTypes && format.order == .little }

  /// Splits `r_info`, as libelf returns it, into symbol and type: `GELF_R_SYM`, `GELF_R_TYPE`.
  @inline(__always)
  func split(_ info: UInt64) -> (symbol: UInt32, type: UInt32) {
    let type = UInt32(truncatingIfNeeded: info)
    return (UInt32(truncatingIfNeeded: info >> 32), self.info == .lowByte ? type & 0xff : type)
  }

  /// Splits `r_info` as it is in the file.
  func split(raw info: UInt64) -> (symbol: UInt32, type: UInt32) {
    if format.bits == 32 { return (UInt32(truncatingIfNeeded: info >> 8), UInt32(info & 0xff)) }
    guard hasRawInfo else { return split(info) }
    // The bytes are in one order in the file, whatever the order of words.
    return (UInt32(truncatingIfNeeded: info), UInt32(truncatingIfNeeded: info >> 32).byteSwapped)
  }
}

/// The names of relocation types in the supplements of the machines: `R_X86_64_TPOFF64`, not 18.
struct ELFRelocationNames {
  /// The names by number; empty if the machine is unknown.
  private var names: [UInt32: String] = [:]

  /// Looks up a machine; most files need no names.
  init(of machine: ELFMachine) {
    let list = Self.lists.split { $0 == ":" }.first { $0.hasPrefix("\(machine.prefix) ") }
    var number: UInt32 = 0
    for word in list?.split(whereSeparator: \.isWhitespace).dropFirst() ?? [] {
      if word.first == "=", let next = UInt32(word.dropFirst()) {
        number = next
      } else {
        for name in Self.expanded(word) {
          names[number] = "R_\(machine.prefix)_\(name)"
          number += 1
        }
      }
    }
  }

  /// Returns the name of a type, such as `R_X86_64_TPOFF64`; on MIPS64, the names of all types of a relocation.
  func name(of type: UInt32, _ machine: ELFMachine) -> String {
    guard machine.info == .threeTypes else { return name(of: type) }
    let more = [type >> 8 & 0xff, type >> 16 & 0xff].filter { $0 != 0 }
    return ([type & 0xff] + more).map(name).joined(separator: "/")
  }

  private func name(of type: UInt32) -> String { names[type] ?? "relocation type \(type)" }

  /// Returns the names that a word expands to: of `REL16{,_LO}_DS`, `REL16_DS` and `REL16_LO_DS`.
  private static func expanded(_ word: Substring) -> [String] {
    guard let open = word.firstIndex(of: "{"), let close = word.firstIndex(of: "}") else {
      return [String(word)]
    }
    let ends = expanded(word[close...].dropFirst())
    let middles = word[open..<close].dropFirst().split(omittingEmptySubsequences: false) {
      $0 == ","
    }
    return middles.flatMap { middle in ends.map { word[..<open] + middle + $0 } }
  }

  /// The names by the prefix after each colon, in the order of the numbers. `=` gives the number of the next name, and
  /// braces hold the parts that differ. It lists the types of linked files and of data words; types that patch
  /// instructions have only numbers.
  private static let lists = """
    :ARC NONE 8 16 24 32 =27 32_ME =49 32_PCREL PC32 =53 COPY GLOB_DAT JMP_SLOT RELATIVE =66
    TLS_{DTPMOD,DTPOFF,TPOFF}
    :68K NONE 32 16 8 PC{32,16,8} =19 COPY GLOB_DAT JMP_SLOT RELATIVE =40 TLS_{DTPMOD32,DTPREL32,TPREL32}
    :386 NONE 32 PC32 GOT32 PLT32 COPY GLOB_DAT JMP_SLOT RELATIVE GOTOFF GOTPC 32PLT =14
    TLS_{TPOFF,IE,GOTIE,LE,GD,LDM} 16 PC16 8 PC8 =35 TLS_{DTPMOD32,DTPOFF32,TPOFF32} SIZE32 =41
    TLS_DESC IRELATIVE
    :SPARC NONE 8 16 32 DISP{8,16,32} =19 COPY GLOB_DAT JMP_SLOT RELATIVE UA32 =32 64 =46 DISP64 =54
    UA64 UA16 =74 TLS_{DTPMOD32,DTPMOD64,DTPOFF32,DTPOFF64,TPOFF32,TPOFF64} =248 JMP_IREL IRELATIVE
    :MIPS NONE 16 32 REL32 =12 GPREL32 =18 64 =38 TLS_{DTPMOD32,DTPREL32,DTPMOD64,DTPREL64} =47
    TLS_TPREL{32,64} =51 GLOB_DAT =126 COPY JUMP_SLOT
    :PARISC NONE DIR32 =9 PCREL32 =64 FPTR64 PLABEL32 =72 PCREL64 =80 DIR64 =128 COPY IPLT EPLT =153
    TPREL32 =216 TPREL64 =242 TLS_{DTPMOD32,DTPMOD64} TLS_DTPOFF{32,64}
    :ALPHA NONE REFLONG REFQUAD GPREL32 =9 SREL{16,32,64} =24 COPY GLOB_DAT JMP_SLOT RELATIVE =31
    DTPMOD64 =33 DTPREL64 =38 TPREL64
    :PPC NONE ADDR32 =19 COPY GLOB_DAT JMP_SLOT RELATIVE =24 UADDR32 =26 REL32 =68 DTPMOD32 =73 TPREL32
    =78 DTPREL32 =248 IRELATIVE
    :PPC64 =38 ADDR64 =43 UADDR64 REL64 =51 TOC =68 DTPMOD64 =73 TPREL64 =78 DTPREL64 =247 JMP_IREL
    IRELATIVE
    :AARCH64 NONE =257 ABS{64,32,16} PREL{64,32,16} =1024 COPY GLOB_DAT JUMP_SLOT RELATIVE
    TLS_{DTPMOD,DTPREL,TPREL} TLSDESC IRELATIVE
    :AARCH64_P32 =1 ABS32 =180 COPY GLOB_DAT JUMP_SLOT RELATIVE TLS_{DTPMOD,DTPREL,TPREL} TLSDESC
    IRELATIVE
    :ARM NONE =2 ABS32 REL32 =13 TLS_DESC =17 TLS_{DTPMOD32,DTPOFF32,TPOFF32} COPY GLOB_DAT JUMP_SLOT
    RELATIVE =38 TARGET1 =41 TARGET2 PREL31 =160 IRELATIVE
    :SH NONE DIR32 REL32 =149 TLS_{DTPMOD32,DTPOFF32,TPOFF32} =162 COPY GLOB_DAT JMP_SLOT RELATIVE
    :390 NONE 8 12 16 32 PC32 =9 COPY GLOB_DAT JMP_SLOT RELATIVE =22 64 PC64 =54
    TLS_{DTPMOD,DTPOFF,TPOFF} =61 IRELATIVE
    :X86_64 NONE 64 PC32 GOT32 PLT32 COPY GLOB_DAT JUMP_SLOT RELATIVE GOTPCREL 32 32S 16 PC16 8 PC8
    DTPMOD64 DTPOFF64 TPOFF64 =24 PC64 GOTOFF64 =32 SIZE{32,64} =36 TLSDESC IRELATIVE RELATIVE64
    :RISCV NONE 32 64 RELATIVE COPY JUMP_SLOT TLS_DTPMOD{32,64} TLS_DTPREL{32,64} TLS_TPREL{32,64}
    TLSDESC =33 ADD{8,16,32,64} SUB{8,16,32,64} =52 SUB6 SET{6,8,16,32} 32_PCREL IRELATIVE
    :LARCH NONE 32 64 RELATIVE COPY JUMP_SLOT TLS_DTPMOD{32,64} TLS_DTPREL{32,64} TLS_TPREL{32,64}
    IRELATIVE TLS_DESC{32,64} =47 ADD{8,16,24,32,64} SUB{8,16,24,32,64}
    """
}
