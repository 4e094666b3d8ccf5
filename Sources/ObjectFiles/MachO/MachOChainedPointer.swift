internal import BinaryImage

/// How a chained pointer packs what it means, and how far the next one is, into one word.
///
/// C: the `DYLD_CHAINED_PTR_*` of `<mach-o/fixup-chains.h>`.
enum MachOChainedPointer: UInt16 {
  /// `DYLD_CHAINED_PTR_ARM64E`
  case arm64e = 1
  /// `DYLD_CHAINED_PTR_64`
  case pointer64 = 2
  /// `DYLD_CHAINED_PTR_32`
  case pointer32 = 3
  /// `DYLD_CHAINED_PTR_64_OFFSET`
  case offset64 = 6
  /// `DYLD_CHAINED_PTR_ARM64E_USERLAND`
  case arm64eUserland = 9
  /// `DYLD_CHAINED_PTR_ARM64E_USERLAND24`
  case arm64eUserland24 = 12

  /// What a word means.
  enum Meaning: Equatable {
    /// A linked address.
    case address(UInt64)
    /// A distance from the Mach-O header.
    case offset(UInt64)
    /// The import of that number, and what to add.
    case bind(UInt64, addend: Int64)
    /// No pointer: a 32-bit word above `max_valid_pointer`.
    case number
  }

  /// The formats that are not read, by their numbers.
  static let others: [UInt16: String] = [
    4: "DYLD_CHAINED_PTR_32_CACHE", 5: "DYLD_CHAINED_PTR_32_FIRMWARE",
    7: "DYLD_CHAINED_PTR_ARM64E_KERNEL", 8: "DYLD_CHAINED_PTR_64_KERNEL_CACHE",
    10: "DYLD_CHAINED_PTR_ARM64E_FIRMWARE", 11: "DYLD_CHAINED_PTR_X86_64_KERNEL_CACHE",
    13: "DYLD_CHAINED_PTR_ARM64E_SHARED_CACHE", 14: "DYLD_CHAINED_PTR_ARM64E_SEGMENTED",
  ]

  /// The size of a word in bytes.
  var wordSize: Int { self == .pointer32 ? 4 : 8 }

  /// How many bytes further the next word of the chain is; 0 at its end.
  func step(from raw: UInt64) -> Int {
    switch self {
    case .pointer32: Int(raw.bits(26, 5)) * 4
    case .pointer64, .offset64: Int(raw.bits(51, 12)) * 4
    case .arm64e, .arm64eUserland, .arm64eUserland24: Int(raw.bits(51, 11)) * 8
    }
  }

  /// What a word of the chain means.
  func meaning(of raw: UInt64, highestPointer: UInt64) -> Meaning {
    switch self {
    case .pointer32:
      if raw.bits(31, 1) == 1 { return .bind(raw.bits(0, 20), addend: Int64(raw.bits(20, 6))) }
      let target = raw.bits(0, 26)
      return target > highestPointer && highestPointer > 0 ? .number : .address(target)
    case .pointer64, .offset64:
      if raw.bits(63, 1) == 1 { return .bind(raw.bits(0, 24), addend: Int64(raw.bits(24, 8))) }
      let target = raw.bits(0, 36) | raw.bits(36, 8) << 56
      return self == .pointer64 ? .address(target) : .offset(target)
    case .arm64e, .arm64eUserland, .arm64eUserland24: return signed(raw)
    }
  }

  /// A word of arm64e: its highest bit says that the loader signs the pointer.
  private func signed(_ raw: UInt64) -> Meaning {
    let isSigned = raw.bits(63, 1) == 1
    if raw.bits(62, 1) == 1 {
      let ordinal = raw.bits(0, self == .arm64eUserland24 ? 24 : 16)
      // Signed pointers have no room for an addend; that of the others has 19 bits and a sign.
      let addend = Int64(bitPattern: raw.bits(32, 19) << 45) >> 45
      return .bind(ordinal, addend: isSigned ? 0 : addend)
    }
    if isSigned { return .offset(raw.bits(0, 32)) }
    let target = raw.bits(0, 43) | raw.bits(43, 8) << 56
    return self == .arm64e ? .address(target) : .offset(target)
  }
}

extension UInt64 {
  /// The `count` bits from bit `first` on.
  fileprivate func bits(_ first: UInt64, _ count: UInt64) -> UInt64 {
    self >> first & (1 << count - 1)
  }
}
