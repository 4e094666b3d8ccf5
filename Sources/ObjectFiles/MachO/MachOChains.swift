internal import BinaryImage

/// The fixups of `LC_DYLD_CHAINED_FIXUPS`: in each page, each word says how far the next one is.
///
/// Only the pages that hold a wanted word are walked; whether a word is in a chain is known only by
/// walking from the start of its page.
///
/// C: `struct dyld_chained_fixups_header` and its kin in `<mach-o/fixup-chains.h>`.
final class MachOChains: MachOLinkedFixups {
  /// Everything: pages are looked at when they are asked for.
  let ranges = AddressRanges([0..<UInt64.max])
  private let file: OpenedFile
  private let segments: MachOSegments
  /// `dyld_chained_fixups_header`: where the parts are in the file.
  private let starts: UInt64
  private let imports: MachOChainedImports
  private let end: UInt64
  private let order: ImageIdentity.ByteOrder
  private let wordSize: Int
  private var window = FileWindow()
  private var page: Page?

  /// The words of one page that are in a chain.
  private struct Page {
    var segment: Int
    var start: UInt64
    var format: MachOChainedPointer
    var highestPointer: UInt64
    /// The address behind it.
    var end: UInt64
    var places: [UInt64]
  }

  /// Reads the header of the fixups at `extent`, and then the segments.
  init(
    of file: OpenedFile, _ header: MachOHeader, at extent: FileExtent,
    _ segments: Result<MachOSegments, ImageError>
  ) throws(ImageError) {
    self.file = file
    let size = 28
    try file.check(
      extent.size >= UInt64(size), .malformed,
      "The chained fixups have \(extent.size) bytes, too few for their header.", at: extent.offset)
    let bytes = try file.read(at: extent.offset, count: size)
    let words = stride(from: 0, to: size, by: 4).map { place in
      UInt64(bytes.span.integer(at: place, as: UInt32.self, order: header.order) ?? 0)
    }
    try file.check(
      words[0] == 0, .unsupported, "Version \(words[0]) of the chained fixups is unknown.",
      at: extent.offset)
    (order, wordSize) = (header.order, header.wordSize)
    (starts, end) = (extent.offset + words[1], extent.offset + extent.size)
    imports = MachOChainedImports(words, in: extent, of: file, order)
    try file.check(
      starts <= end, .malformed, "The chains' starts lie outside the fixups.", at: extent.offset)
    self.segments = try segments.get()
  }

  /// What the loader does to the word at `address`, which holds `raw`; nil where it leaves it alone.
  func fixup(at address: UInt64, raw: UInt64) throws(ImageError) -> MachOFixup? {
    guard let found = segments.index(holding: address),
      let page = try page(of: address, in: found),
      page.places.element(at: address, by: { $0 }) != nil
    else { return nil }
    switch page.format.meaning(of: raw, highestPointer: page.highestPointer) {
    case .address(let target): return .chained(address: target)
    case .offset(let offset):
      guard let base = segments.base else {
        throw file.error(.malformed, "No segment holds the header that pointers count from.")
      }
      return .chained(address: base &+ offset)
    case .bind(let ordinal, let addend):
      var bind = try imports.bind(ordinal)
      bind.addend &+= addend
      return .bind(bind)
    case .number: return .other("the word of the chain is a number, no pointer")
    }
  }

  /// The last word of a range that the loader writes; nil where it writes none.
  func lastFixup(in range: Range<UInt64>) throws(ImageError) -> UInt64? {
    var last: UInt64?
    var address = range.lowerBound
    while range.contains(address), let found = segments.index(holding: address),
      let page = try page(of: address, in: found)
    {
      last = page.places.lastKey(in: range, by: { $0 }) ?? last
      address = page.end
    }
    return last
  }

  // MARK: - Walking

  /// The page of a segment that `address` is in; nil where no chain starts there.
  private func page(of address: UInt64, in index: Int) throws(ImageError) -> Page? {
    let segment = segments.list[index]
    if let page, page.segment == index, page.start <= address, address < page.end { return page }
    guard try integer(at: starts, as: UInt32.self) > UInt64(index) else { return nil }
    let offset = try integer(at: starts + 4 + UInt64(index) * 4, as: UInt32.self)
    guard offset != 0 else { return nil }
    let info = starts + offset
    let pageSize = try integer(at: info + 4, as: UInt16.self)
    let formatNumber = UInt16(truncatingIfNeeded: try integer(at: info + 6, as: UInt16.self))
    let distance = try integer(at: info + 8, as: UInt64.self)
    let highest = try integer(at: info + 16, as: UInt32.self)
    let pageCount = try integer(at: info + 20, as: UInt16.self)
    guard let format = MachOChainedPointer(rawValue: formatNumber) else {
      let name = MachOChainedPointer.others[formatNumber].map { " (\($0))" } ?? ""
      throw file.error(
        .unsupported, "Chained pointers of format \(formatNumber)\(name) are not read.", at: info)
    }
    try file.check(
      pageSize >= 1 << 8 && format.wordSize == wordSize
        && segments.base.map { $0 &+ distance } == segment.address, .malformed,
      "The chains of \(segment.name) contradict the segment.", at: info)
    let number = (address - segment.address) / pageSize
    guard number < pageCount else { return nil }
    let first = number * pageSize
    var found = Page(
      segment: index, start: segment.address &+ first, format: format, highestPointer: highest,
      end: segment.address.saturating(adding: first + pageSize), places: [])
    let starts = try chainStarts(at: info + 22, page: number, count: pageCount, format)
    if !starts.isEmpty {
      // A word may begin in one page and end in the next.
      let length = min(pageSize + UInt64(wordSize), segment.fileSize - min(first, segment.fileSize))
      let bytes = try file.read(at: segment.offset.saturating(adding: first), count: Int(length))
      for start in starts { try walk(bytes, from: start, within: Int(pageSize), &found, segment) }
      found.places.sort()
    }
    page = found
    return found
  }

  /// Where the chains of a page start, from its beginning; a page of 32-bit words may have several.
  private func chainStarts(
    at table: UInt64, page: UInt64, count: UInt64, _ format: MachOChainedPointer
  ) throws(ImageError) -> [Int] {
    let start = try integer(at: table + page * 2, as: UInt16.self)
    if start == 0xffff { return [] }
    guard start & 0x8000 != 0, format == .pointer32 else { return [Int(start)] }
    var starts: [Int] = []
    var index = start & 0x7fff
    while starts.count < 0x8000 {
      let next = try integer(at: table + index * 2, as: UInt16.self)
      starts.append(Int(next & 0x7fff))
      if next & 0x8000 != 0 { return starts }
      index += 1
    }
    throw file.error(.malformed, "The chains of a page have no end.", at: table)
  }

  private func walk(
    _ bytes: [UInt8], from start: Int, within pageSize: Int, _ page: inout Page,
    _ segment: MachOSegment
  ) throws(ImageError) {
    var position = start
    while true {
      guard position < pageSize, page.places.count <= pageSize / 4,
        let raw = bytes.span.word(at: position, bits: wordSize * 8, order: order)
      else {
        throw file.error(.malformed, "A chain leads out of its page of \(segment.name).")
      }
      page.places.append(page.start &+ UInt64(position))
      let step = page.format.step(from: raw)
      if step == 0 { return }
      position += step
    }
  }

  /// An unsigned integer of the tables.
  private func integer<Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    at offset: UInt64, as type: Value.Type
  ) throws(ImageError) -> UInt64 {
    let size = MemoryLayout<Value>.size
    try file.check(
      offset + UInt64(size) <= end, .malformed, "A table of the chained fixups lies outside them.",
      at: offset)
    let (bytes, position) = try window.load(file, at: offset, count: size)
    return UInt64(bytes.span.integer(at: position, as: type, order: order) ?? 0)
  }
}
