internal import CElf

/// What a machine is called, and which of its relocations write a pointer.
///
/// The numbers are those of each machine's ELF supplement; a machine more is one line more.
package struct ELFMachine {
  /// At most three relocation types. No array: threads that read files share the tables, and would wait for each
  /// other to count the references.
  package struct Types: ExpressibleByArrayLiteral {
    /// The one that is usual.
    let first: UInt32
    private let (second, third): (UInt32, UInt32)

    package init(arrayLiteral types: UInt32...) {
      first = types[0]
      (second, third) = (types.count > 1 ? types[1] : first, types.last ?? first)
    }

    func contains(_ type: UInt32) -> Bool { type == first || type == second || type == third }
  }

  /// The relocation types that make a word an address.
  package struct RelocationTypes {
    /// The word is an address of this image: `R_*_RELATIVE`.
    let relative: Types
    /// The word is a symbol's address: `R_*_64`, `R_*_ABS64`, `R_*_32`, aligned or not.
    let word: Types
    /// The same, in the global offset table: `R_*_GLOB_DAT`, `R_*_JUMP_SLOT`.
    let table: Types
    /// Another image's data is copied here: `R_*_COPY`.
    let copy: UInt32
    /// A function chooses the address at load time: `R_*_IRELATIVE`.
    let chosen: UInt32?
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
  /// What the names of its relocation types start with: `X86_64` of `R_X86_64_64`.
  let prefix: String
  /// The relocation types; nil where this reader does not know them.
  package let relocationTypes: RelocationTypes?
  /// How `r_info` is split, where a machine has a way of its own.
  package let info: Info
  private var format = ELFFormat(bits: 64, order: .little, machine: 0)

  /// Looks up `e_machine` for a class and a byte order.
  package init(number: UInt16, bits: Int, order: ImageIdentity.ByteOrder) {
    self.init(ELFFormat(bits: bits, order: order, machine: number))
  }

  /// The same.
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

  /// A machine of whose relocations these are relative, a word, of a table, a copy, and chosen.
  private init(
    _ name: String, _ prefix: String, _ relative: Types, _ word: Types, _ table: Types,
    _ copy: UInt32, _ chosen: UInt32? = nil, _ info: Info = .standard
  ) {
    let types = RelocationTypes(
      relative: relative, word: word, table: table, copy: copy, chosen: chosen)
    self.init(name, prefix, types, info)
  }

  /// By `e_machine`, and the class where it matters.
  private static let known: [(number: Int32, bits: Int?, machine: ELFMachine)] = [
    (EM_X86_64, 64, Self("x86_64", "X86_64", [8, 38], [1], [6, 7], 5, 37)),
    (EM_X86_64, nil, Self("x86_64", "X86_64", [8, 38], [10], [6, 7], 5, 37)),
    (EM_386, nil, Self("i386", "386", [8], [1], [6, 7], 5, 42)),
    (EM_AARCH64, 64, Self("aarch64", "AARCH64", [1027], [257], [1025, 1026], 1024, 1032)),
    (EM_AARCH64, nil, Self("aarch64", "AARCH64_P32", [183], [1], [181, 182], 180, 188)),
    (EM_ARM, nil, Self("arm", "ARM", [23], [2, 38], [21, 22], 20, 160)),
    (EM_S390, 64, Self("s390x", "390", [12], [22], [10, 11], 9, 61)),
    (EM_S390, nil, Self("s390", "390", [12], [4], [10, 11], 9, 61)),
    (EM_PPC64, nil, Self("ppc64", "PPC64", [22], [38, 43], [20, 21], 19, 248)),
    (EM_PPC, nil, Self("ppc", "PPC", [22], [1, 24], [20, 21], 19, 248)),
    (EM_RISCV, 64, Self("riscv64", "RISCV", [3], [2], [5], 4, 58)),
    (EM_RISCV, nil, Self("riscv32", "RISCV", [3], [1], [5], 4, 58)),
    (EM_LOONGARCH, 64, Self("loongarch64", "LARCH", [3], [2], [5], 4, 12)),
    (EM_LOONGARCH, nil, Self("loongarch32", "LARCH", [3], [1], [5], 4, 12)),
    (EM_SPARCV9, nil, Self("sparc64", "SPARC", [22], [32, 54], [20, 21], 19, 249, .lowByte)),
    (EM_SPARC, nil, Self("sparc", "SPARC", [22], [3, 23], [20, 21], 19, 249)),
    (EM_SPARC32PLUS, nil, Self("sparc", "SPARC", [22], [3, 23], [20, 21], 19, 249)),
    // R_MIPS_REL32, in 64-bit files followed by R_MIPS_64; relative where it names no symbol.
    (EM_MIPS, 64, Self("mips64", "MIPS", [3 | 18 << 8], [18], [51, 127], 126, nil, .threeTypes)),
    (EM_MIPS, nil, Self("mips", "MIPS", [3], [2], [51, 127], 126)),
    // R_PARISC_DIR32, PLABEL32 and IPLT: an address, a function's descriptor, an entry that calls
    // it; relative where they name no symbol.
    (EM_PARISC, 64, Self("hppa64", "PARISC", [80, 64, 129], [80], [129], 128)),
    (EM_PARISC, nil, Self("hppa", "PARISC", [1, 65, 129], [1], [129], 128)),
    (EM_ALPHA, nil, Self("alpha", "ALPHA", [27], [2], [25, 26], 24)),
    (EM_68K, nil, Self("m68k", "68K", [22], [1], [20, 21], 19)),
    (EM_SH, nil, Self("sh", "SH", [165], [1], [163, 164], 162)),
  ]

  /// Whether glibc's loader reads relocations with addends of their own alone: `ELF_MACHINE_NO_REL`.
  var hasExplicitAddends: Bool { !["", "386", "ARM", "MIPS"].contains(prefix) }

  /// Whether glibc's loader knows what a relocation type asks for; true of machines of which that is not listed.
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

  /// Whether `r_info` is to be taken as it is in the file: versions of libelf differ in what they make of that of
  /// mips64el.
  var hasRawInfo: Bool { info == .threeTypes && format.order == .little }

  /// Splits `r_info`, as libelf hands it out, into symbol and type: `GELF_R_SYM`, `GELF_R_TYPE`.
  @inline(__always)
  func split(_ info: UInt64) -> (symbol: UInt32, type: UInt32) {
    let type = UInt32(truncatingIfNeeded: info)
    return (
      UInt32(truncatingIfNeeded: info >> 32), self.info == .lowByte ? type & 0xff : type
    )
  }

  /// Splits `r_info` as it is in the file.
  func split(raw info: UInt64) -> (symbol: UInt32, type: UInt32) {
    if format.bits == 32 { return (UInt32(truncatingIfNeeded: info >> 8), UInt32(info & 0xff)) }
    guard hasRawInfo else { return split(info) }
    // The bytes are in one order in the file, whatever the order of words.
    return (UInt32(truncatingIfNeeded: info), UInt32(truncatingIfNeeded: info >> 32).byteSwapped)
  }
}
