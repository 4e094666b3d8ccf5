internal import BinaryImage

/// The fixups of `LC_DYLD_CHAINED_FIXUPS`: in each page, each word has the distance to the next one.
///
/// Only the pages that hold a wanted word are walked. Only a walk from the start of a page shows which of its words are
/// in a chain.
///
/// C: `struct dyld_chained_fixups_header`, `dyld_chained_import` and their kin in `<mach-o/fixup-chains.h>`.
final class MachOChains {
  private let file: OpenedFile
  private let segments: MachOSegments
  /// `dyld_chained_fixups_header`: the offsets of the parts in the file.
  private let starts: UInt64, imports: UInt64, names: UInt64, end: UInt64
  private let importCount: UInt64
  /// `DYLD_CHAINED_IMPORT`, `_ADDEND`, `_ADDEND64`; and whether the names are compressed.
  private let importFormat: UInt64, namesFormat: UInt64
  private let order: ImageIdentity.ByteOrder
  private let wordSize: Int
  /// The chains by the numbers of their segments.
  private var chains: [Int: Chains] = [:]
  /// The positions of the words in chains, by segment and page. Errors are kept too, so that a broken chain is walked
  /// once and not for each word.
  private var pages: [UInt64: Result<[UInt16], ImageError>] = [:]
  /// The number of words that can still be in chains, unless they share their bytes.
  private var room: UInt64

  /// The chains of one segment. `starts` is the offset of the table with the start of each page's chain.
  private typealias Chains = (
    format: MachOChainedPointer, pageSize: UInt64, pageCount: UInt64, highestPointer: UInt64,
    starts: UInt64
  )

  /// Reads the header of the fixups at `extent`, and then the segments.
  init(
    of file: OpenedFile, _ header: MachOHeader, at extent: FileExtent,
    _ segments: Result<MachOSegments, ImageError>
  ) throws(ImageError) {
    self.file = file
    try file.check(
      extent.size >= 28, .malformed,
      "The chained fixups have \(extent.size) bytes, too few for their header.", at: extent.offset)
    let fields = MachOFields(
      bytes: try file.read(at: extent.offset, count: 28), start: 0, bits: header.bits,
      order: header.order)
    let words = (0..<7).map { fields.number(4 * $0) }
    try file.check(
      words[0] == 0, .unsupported, "Version \(words[0]) of the chained fixups is unknown.",
      at: extent.offset)
    (order, wordSize, room) = (header.order, header.wordSize, file.size / 4)
    (starts, imports, names) = (
      extent.offset + words[1], extent.offset + words[2], extent.offset + words[3]
    )
    end = extent.offset + extent.size
    (importCount, importFormat, namesFormat) = (words[4], words[5], words[6])
    try file.check(
      starts <= end, .malformed, "The chains' starts lie outside the fixups.", at: extent.offset)
    self.segments = try segments.get()
  }

  /// Returns the meaning of the word `raw` at `address`; nil if the loader does not change it.
  func fixup(at address: UInt64, raw: UInt64) throws(ImageError) -> MachOFixup? {
    guard let index = segments.index(holding: address), let chains = try chains(of: index) else {
      return nil
    }
    let (page, position) = (address - segments.list[index].address)
      .quotientAndRemainder(dividingBy: chains.pageSize)
    guard page < chains.pageCount,
      try places(on: page, of: index, chains).element(at: UInt64(position), by: { UInt64($0) })
        != nil
    else { return nil }
    if let (ordinal, addend) = chains.format.bind(in: raw) {
      var bind = try bind(ordinal)
      bind.addend &+= addend
      return PointerValue.bound(raw, to: bind)
    }
    let (target, isOffset) = chains.format.target(of: raw)
    // `max_valid_pointer`, for words of 32 bits.
    if wordSize == 4, chains.highestPointer > 0, target > chains.highestPointer {
      return (.unresolvable(raw, "the word of the chain is a number, no pointer"), nil)
    }
    guard isOffset else { return PointerValue.rebased(raw, to: target, .chainedRebase) }
    guard let base = segments.base else {
      throw file.error(.malformed, "No segment holds the header that pointers count from.")
    }
    return PointerValue.rebased(raw, to: base &+ target, .chainedRebase)
  }

  // MARK: - Imports

  /// Returns the bind of the import with this number.
  private func bind(_ ordinal: UInt64) throws(ImageError) -> MachOBind {
    try file.check(
      namesFormat == 0, .unsupported, "The names of the chained imports are compressed; not read.")
    let sizes: [UInt64: UInt64] = [1: 4, 2: 8, 3: 16]
    guard let size = sizes[importFormat] else {
      throw file.error(
        .unsupported, "Chained imports of format \(importFormat) are unknown.", at: imports)
    }
    let start = imports + ordinal * size
    try file.check(
      ordinal < importCount && start + size <= end, .malformed,
      "Chained import \(ordinal) lies outside the \(importCount) imports.", at: imports)
    let library: Int
    let name: UInt64
    var addend: Int64 = 0
    if importFormat == 3 {
      let first = try number(at: start, size: 8)
      // Negative numbers name a way to look instead of a library.
      (library, name) = (Int(Int16(truncatingIfNeeded: first)), first >> 32)
      addend = Int64(bitPattern: try number(at: start + 8, size: 8))
    } else {
      let first = try number(at: start, size: 4)
      let low = UInt8(truncatingIfNeeded: first)
      (library, name) = (low > 0xf0 ? Int(Int8(bitPattern: low)) : Int(low), first >> 9)
      if importFormat == 2 {
        addend = Int64(Int32(truncatingIfNeeded: try number(at: start + 4, size: 4)))
      }
    }
    let text = try file.text(at: names + name, before: end, limit: OpenedFile.longestName)
    guard let text else {
      throw file.error(.malformed, "The name of chained import \(ordinal) lies outside the names.")
    }
    return (String(decoding: text.bytes.span.extracting(text.range)), library, addend)
  }

  // MARK: - Walking

  /// Returns the chains of a segment; nil if none start there.
  private func chains(of index: Int) throws(ImageError) -> Chains? {
    if let known = chains[index] { return known }
    let segment = segments.list[index]
    guard try number(at: starts, size: 4) > UInt64(index) else { return nil }
    let offset = try number(at: starts + 4 + UInt64(index) * 4, size: 4)
    guard offset != 0 else { return nil }
    let info = starts + offset
    let pageSize = try number(at: info + 4, size: 2)
    let formatNumber = UInt16(truncatingIfNeeded: try number(at: info + 6, size: 2))
    let distance = try number(at: info + 8, size: 8)
    let highest = try number(at: info + 16, size: 4)
    let pageCount = try number(at: info + 20, size: 2)
    guard let format = MachOChainedPointer(rawValue: formatNumber) else {
      throw file.error(
        .unsupported, "Chained pointers of format \(formatNumber) are not read.", at: info)
    }
    try file.check(
      pageSize >= 1 << 8 && format.wordSize == wordSize
        && segments.base.map { $0 &+ distance } == segment.address, .malformed,
      "The chains of \(segment.name) contradict the segment.", at: info)
    chains[index] = (format, pageSize, pageCount, highest, info + 22)
    return chains[index]
  }

  /// Returns the positions of the words in chains on a page, in ascending order.
  private func places(
    on page: UInt64, of index: Int, _ chains: Chains
  ) throws(ImageError) -> [UInt16] {
    let key = UInt64(index) << 16 | page
    if let known = pages[key] { return try known.get() }
    let (segment, first) = (segments.list[index], page * chains.pageSize)
    let found = Result { () throws(ImageError) in
      var places: [UInt16] = []
      let most = Int(chains.pageSize / 4)
      let starts = try chainStarts(at: chains.starts, page: page, most: most, chains.format)
      if starts.isEmpty { return places }
      try file.check(
        room > 0, .malformed, "The chains of \(segment.name) share their bytes with others.")
      defer { room -= min(room, UInt64(places.count)) }
      // A word may begin in one page and end in the next.
      let length = min(
        chains.pageSize + UInt64(wordSize), segment.fileSize - min(first, segment.fileSize))
      let bytes = try file.read(at: segment.offset.saturating(adding: first), count: Int(length))
      for start in starts {
        var (position, step) = (start, 1)
        while step > 0 {
          guard position < chains.pageSize, places.count < most,
            let raw = bytes.span.word(at: position, bits: wordSize * 8, order: order)
          else { throw file.error(.malformed, "A chain leads out of its page of \(segment.name).") }
          places.append(UInt16(position))
          step = chains.format.step(from: raw)
          position += step
        }
      }
      return places.sorted()
    }
    pages[key] = found
    return try found.get()
  }

  /// Returns the starts of the chains of a page, from its beginning. A page of 32-bit words may have several.
  private func chainStarts(
    at table: UInt64, page: UInt64, most: Int, _ format: MachOChainedPointer
  ) throws(ImageError) -> [Int] {
    let start = try number(at: table + page * 2, size: 2)
    if start == 0xffff { return [] }
    guard start & 0x8000 != 0, format == .pointer32 else { return [Int(start)] }
    var starts: [Int] = []
    var index = start & 0x7fff
    while starts.count <= most {
      let next = try number(at: table + index * 2, size: 2)
      starts.append(Int(next & 0x7fff))
      if next & 0x8000 != 0 { return starts }
      index += 1
    }
    throw file.error(.malformed, "The chains of a page have no end.", at: table)
  }

  /// Reads an unsigned integer of the tables.
  private func number(at offset: UInt64, size: Int) throws(ImageError) -> UInt64 {
    try file.check(
      offset + UInt64(size) <= end, .malformed, "A table of the chained fixups lies outside them.",
      at: offset)
    let (bytes, position) = try file.load(at: offset, count: size)
    return order.number(of: bytes[position..<position + size])
  }
}

/// The format of a chained pointer: one word with its meaning and the distance to the next word.
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

  /// The size of a word in bytes.
  var wordSize: Int { self == .pointer32 ? 4 : 8 }

  /// Returns the distance to the next word of the chain in bytes; 0 at its end.
  func step(from raw: UInt64) -> Int {
    switch self {
    case .pointer32: Int(raw.bits(26, 5)) * 4
    case .pointer64, .offset64: Int(raw.bits(51, 12)) * 4
    case .arm64e, .arm64eUserland, .arm64eUserland24: Int(raw.bits(51, 11)) * 8
    }
  }

  /// Returns the number of the import that a word is bound to, and the addend; nil if it leads into the image.
  func bind(in raw: UInt64) -> (ordinal: UInt64, addend: Int64)? {
    switch self {
    case .pointer32:
      return raw.bits(31, 1) == 0 ? nil : (raw.bits(0, 20), Int64(raw.bits(20, 6)))
    case .pointer64, .offset64:
      return raw.bits(63, 1) == 0 ? nil : (raw.bits(0, 24), Int64(raw.bits(24, 8)))
    case .arm64e, .arm64eUserland, .arm64eUserland24:
      guard raw.bits(62, 1) == 1 else { return nil }
      // Signed pointers have no room for an addend. In other pointers it has 19 bits, the sign included.
      let addend = Int64(bitPattern: raw.bits(32, 19) << 45) >> 45
      return (raw.bits(0, self == .arm64eUserland24 ? 24 : 16), isSigned(raw) ? 0 : addend)
    }
  }

  /// Returns the linked address that a word leads to, or its distance from the Mach-O header.
  func target(of raw: UInt64) -> (value: UInt64, isOffset: Bool) {
    switch self {
    case .pointer32: (raw.bits(0, 26), false)
    case .pointer64, .offset64: (raw.bits(0, 36) | raw.bits(36, 8) << 56, self == .offset64)
    case .arm64e, .arm64eUserland, .arm64eUserland24:
      isSigned(raw)
        ? (raw.bits(0, 32), true) : (raw.bits(0, 43) | raw.bits(43, 8) << 56, self != .arm64e)
    }
  }

  /// Returns whether the loader signs the pointer that it makes of an arm64e word.
  private func isSigned(_ raw: UInt64) -> Bool { raw.bits(63, 1) == 1 }
}

extension UInt64 {
  /// Returns the `count` bits from bit `first` on.
  fileprivate func bits(_ first: UInt64, _ count: UInt64) -> UInt64 {
    self >> first & (1 << count - 1)
  }
}
