internal import BinaryImage

/// One relocation of an object, or of a linked file that is older than `LC_DYLD_INFO`.
///
/// C: `struct relocation_info` and `scattered_relocation_info` of `<mach-o/reloc.h>`.
struct MachORelocation {
  /// What the target is counted from.
  enum Base: Equatable {
    /// The symbol of that number: `r_extern`.
    case symbol(UInt64)
    /// The section of that ordinal.
    case section(Int)
    /// The section that holds this address: a scattered relocation.
    case address(UInt64)
  }

  /// Where it writes, from the start of the section or of the image.
  var place: UInt64
  /// What the target is counted from.
  var base: Base
  /// `r_type`, the machine's number for what to write.
  var type: UInt8
  /// How many bytes it writes: 1, 2, 4 or 8.
  var size: Int
  /// Whether it writes a distance.
  var isRelative: Bool
  /// Whether several relocations together make the word.
  var isCombined = false

  /// Splits the two words of an entry.
  init(_ first: UInt32, _ second: UInt32, _ header: MachOHeader) {
    // The 64-bit machines have no scattered relocations, and 32 bits of address.
    guard header.bits == 64 || first & 0x8000_0000 == 0 else {
      place = UInt64(first & 0x00ff_ffff)
      type = UInt8(first >> 24 & 0xf)
      size = 1 << Int(first >> 28 & 3)
      isRelative = first >> 30 & 1 != 0
      base = .address(UInt64(second))
      return
    }
    place = UInt64(first)
    let isLittle = header.order == .little
    let number = isLittle ? second & 0x00ff_ffff : second >> 8
    let bits = UInt8(isLittle ? second >> 24 : second & 0xff)
    // The bit fields are in the other order too where the bytes are.
    isRelative = (isLittle ? bits : bits >> 7) & 1 != 0
    size = 1 << Int((isLittle ? bits >> 1 : bits >> 5) & 3)
    let isExternal = (isLittle ? bits >> 3 : bits >> 4) & 1 != 0
    type = isLittle ? bits >> 4 : bits & 0xf
    base = isExternal ? .symbol(UInt64(number)) : .section(Int(number))
  }
}

/// The relocations that fall into some ranges, one at each place.
struct MachORelocations: MachOLinkedFixups {
  /// What was looked at.
  let ranges: AddressRanges
  private var list: [MachORelocation] = []

  /// Collects what the entries at `extents` say about `ranges`, counting places from `origin`.
  init(
    of file: OpenedFile, _ header: MachOHeader, in extents: [FileExtent],
    ranges: AddressRanges, origin: UInt64 = 0
  ) throws(ImageError) {
    self.ranges = ranges
    for extent in extents {
      try file.forEachPiece(of: extent, entry: 8) { bytes in
        for position in stride(from: 0, to: bytes.count, by: 8) {
          var relocation = MachORelocation(
            bytes.span.integer(at: position, order: header.order) ?? 0,
            bytes.span.integer(at: position + 4, order: header.order) ?? 0, header)
          relocation.place &+= origin
          if ranges.contains(relocation.place) { list.append(relocation) }
        }
      }
    }
    // Those that share a place make a difference of two addresses.
    list.settle(by: \.place) { earlier, _ in earlier.isCombined = true }
  }

  /// The relocation that writes the word at `place`.
  func relocation(at place: UInt64) -> MachORelocation? { list.element(at: place, by: \.place) }

  /// What the loader does to the word at `place`.
  func fixup(at place: UInt64, raw: UInt64) -> MachOFixup? {
    relocation(at: place).map(MachOFixup.relocation)
  }
}
