internal import CElf

/// What a machine is called, and which of its relocations write a pointer.
///
/// The numbers are those of each machine's ELF supplement; a machine more is one line more.
package struct ELFMachine {
  /// The relocation types that make a word an address.
  package struct Relocations {
    /// The word is an address of this image: `R_*_RELATIVE`.
    var relative: [UInt32]
    /// The word is a symbol's address: `R_*_64`, `R_*_ABS64`, `R_*_32`, aligned or not.
    var word: [UInt32]
    /// The same, in the global offset table: `R_*_GLOB_DAT`, `R_*_JUMP_SLOT`.
    var table: [UInt32]
    /// Another image's data is copied here: `R_*_COPY`.
    var copy: UInt32
    /// A function chooses the address at load time: `R_*_IRELATIVE`.
    var chosen: UInt32?
  }

  /// The name that `section-dump` prints.
  package let name: String
  /// The relocation types; nil where this reader does not know them.
  package let relocations: Relocations?
  /// How `r_info` is split, where a machine has a way of its own.
  package let info: Info

  /// The ways to split `r_info`.
  package enum Info {
    /// As ELF says: 32 bits each in a 64-bit file, 24 and 8 in a 32-bit one.
    case standard
    /// Three types of 8 bits each, and a special symbol: MIPS64.
    case threeTypes
    /// The type is the low byte, data of its own above: SPARC64.
    case lowByte
  }

  /// Looks up `e_machine` for a class and a byte order.
  package init(number: UInt16, bits: Int, order: ImageIdentity.ByteOrder) {
    let is64 = bits == 64
    var info = Info.standard
    switch Int32(number) {
    case EM_X86_64:
      name = "x86_64"
      relocations = Relocations(
        relative: [8, 38], word: [is64 ? 1 : 10], table: [6, 7], copy: 5, chosen: 37)
    case EM_386:
      name = "i386"
      relocations = Relocations(relative: [8], word: [1], table: [6, 7], copy: 5, chosen: 42)
    case EM_AARCH64:
      name = "aarch64"
      relocations =
        is64
        ? Relocations(relative: [1027], word: [257], table: [1025, 1026], copy: 1024, chosen: 1032)
        : Relocations(relative: [183], word: [1], table: [181, 182], copy: 180, chosen: 188)
    case EM_ARM:
      name = "arm"
      relocations = Relocations(
        relative: [23], word: [2, 38], table: [21, 22], copy: 20, chosen: 160)
    case EM_S390:
      name = is64 ? "s390x" : "s390"
      relocations = Relocations(
        relative: [12], word: [is64 ? 22 : 4], table: [10, 11], copy: 9, chosen: 61)
    case EM_PPC64:
      name = order == .little ? "ppc64le" : "ppc64"
      relocations = Relocations(
        relative: [22], word: [38, 43], table: [20, 21], copy: 19, chosen: 248)
    case EM_PPC:
      name = "ppc"
      relocations = Relocations(
        relative: [22], word: [1, 24], table: [20, 21], copy: 19, chosen: 248)
    case EM_RISCV:
      name = is64 ? "riscv64" : "riscv32"
      relocations = Relocations(
        relative: [3], word: [is64 ? 2 : 1], table: [5], copy: 4, chosen: 58)
    case EM_LOONGARCH:
      name = is64 ? "loongarch64" : "loongarch32"
      relocations = Relocations(
        relative: [3], word: [is64 ? 2 : 1], table: [5], copy: 4, chosen: 12)
    case EM_SPARCV9:
      name = "sparc64"
      relocations = Relocations(
        relative: [22], word: [32, 54], table: [20, 21], copy: 19, chosen: 249)
      info = .lowByte
    case EM_SPARC, EM_SPARC32PLUS:
      name = "sparc"
      relocations = Relocations(
        relative: [22], word: [3, 23], table: [20, 21], copy: 19, chosen: 249)
    case EM_MIPS:
      name = is64 ? "mips64" : "mips"
      // R_MIPS_REL32, in 64-bit files followed by R_MIPS_64; relative where it names no symbol.
      relocations =
        is64
        ? Relocations(relative: [3 | 18 << 8], word: [18], table: [51, 127], copy: 126)
        : Relocations(relative: [3], word: [2], table: [51, 127], copy: 126)
      info = is64 ? .threeTypes : .standard
    case EM_PARISC:
      name = is64 ? "hppa64" : "hppa"
      // R_PARISC_DIR32, PLABEL32 and IPLT: an address, a function's descriptor, an entry that calls
      // it; relative where they name no symbol.
      relocations =
        is64
        ? Relocations(relative: [80, 64, 129], word: [80], table: [129], copy: 128)
        : Relocations(relative: [1, 65, 129], word: [1], table: [129], copy: 128)
    case EM_ALPHA:
      name = "alpha"
      relocations = Relocations(relative: [27], word: [2], table: [25, 26], copy: 24)
    case EM_68K:
      name = "m68k"
      relocations = Relocations(relative: [22], word: [1], table: [20, 21], copy: 19)
    case EM_SH:
      name = "sh"
      relocations = Relocations(relative: [165], word: [1], table: [163, 164], copy: 162)
    default:
      name = "machine-\(number)"
      relocations = nil
    }
    self.info = info
  }

  /// Splits `r_info` into symbol and type.
  @inline(__always)
  package func split(
    _ info: UInt64, bits: Int, order: ImageIdentity.ByteOrder
  ) -> (symbol: UInt32, type: UInt32) {
    if bits == 32 { return (UInt32(truncatingIfNeeded: info >> 8), UInt32(info & 0xff)) }
    let high = UInt32(truncatingIfNeeded: info >> 32)
    let low = UInt32(truncatingIfNeeded: info)
    switch self.info {
    case .standard: return (high, low)
    case .lowByte: return (high, low & 0xff)
    // The bytes stand in one order in the file, whatever the order of words.
    case .threeTypes: return order == .big ? (high, low) : (low, high.byteSwapped)
    }
  }
}
