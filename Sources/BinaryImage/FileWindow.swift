/// The stretches of a file that were read last, so that neighbours cost no system call.
///
/// Stretches grow while more are asked for, so that few reads serve texts in any order; where even large ones do
/// not help, small ones cost less.
package struct FileWindow {
  private struct Stretch {
    var start: UInt64
    var bytes: [UInt8]

    @inline(__always)
    func holds(_ offset: UInt64, _ end: UInt64) -> Bool {
      offset >= start && end <= start + UInt64(bytes.count)
    }
  }

  /// The one that served last comes first.
  private var stretches: [Stretch] = []
  private var reads = 0

  private static let (mostStretches, growingReads, helpfulReads) = (8, 6, 24)

  /// Longer names are cut off the way a corrupt table would make them.
  package static let longestName = 1 << 16

  /// Nothing was read yet.
  package init() {}

  /// The bytes around `offset`, at least `count` of them, and where `offset` is among them.
  package mutating func load(
    _ file: OpenedFile, at offset: UInt64, count: Int
  ) throws(ImageError) -> (bytes: [UInt8], position: Int) {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(max(0, count)))
    if !overflow, let found = stretches.firstIndex(where: { $0.holds(offset, end) }) {
      if found > 0 { stretches.swapAt(0, found) }
      return (stretches[0].bytes, Int(offset - stretches[0].start))
    }
    guard !overflow, end <= file.size else { throw file.endsBefore(offset, count) }
    if end <= UInt64(file.head.count) { return (file.head, Int(offset)) }
    let size = nextSize
    let first = offset & ~(min(size, 1 << 16) - 1)
    let last = min(file.size, max(end, first + size))
    if stretches.count == Self.mostStretches { stretches.removeLast() }
    let bytes = try file.read(at: first, count: Int(last - first))
    stretches.insert(Stretch(start: first, bytes: bytes), at: 0)
    reads += 1
    return (bytes, Int(offset - first))
  }

  /// How many bytes the next read asks for: a power of two.
  private var nextSize: UInt64 {
    reads > Self.helpfulReads ? 1 << 16 : 1 << (15 + UInt64(min(reads, Self.growingReads)))
  }

  /// The text at `offset` without its NUL, among bytes that hold it; nil where no NUL comes
  /// within `limit` bytes of text and before `end`.
  package mutating func text(
    _ file: OpenedFile, at offset: UInt64, before end: UInt64, limit: Int
  ) throws(ImageError) -> (bytes: [UInt8], range: Range<Int>)? {
    guard offset < end else { return nil }
    let most = Int(min(end - offset, UInt64(max(0, limit)) + 1))
    var count = min(most, 256)
    while true {
      let (bytes, position) = try load(file, at: offset, count: count)
      let visible = bytes.span.extracting(position..<min(bytes.count, position + most))
      if let length = visible.textLength(from: 0) { return (bytes, position..<position + length) }
      guard visible.count < most else { return nil }
      count = min(most, max(count, visible.count) * 2)
    }
  }

  /// The name of a symbol, at an offset of a table of names; empty at offset 0.
  package mutating func name(
    _ file: OpenedFile, at offset: UInt64, in names: FileExtent
  ) throws(ImageError) -> String {
    guard offset != 0 else { return "" }
    let found = try text(
      file, at: names.offset.saturating(adding: offset),
      before: min(file.size, names.offset.saturating(adding: names.size)),
      limit: Self.longestName)
    guard let found else {
      throw file.error(
        .malformed, "A symbol's name lies outside the string table.", at: names.offset)
    }
    return String(decoding: found.bytes.span.extracting(found.range))
  }

  /// Lends the text at `offset`, which its mapping bounds to `size` bytes, for the call's duration.
  package mutating func withText<Result>(
    _ file: OpenedFile, at offset: UInt64, size: UInt64, limit: Int,
    _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let (end, overflow) = offset.addingReportingOverflow(size)
    let bound = overflow ? file.size : min(end, file.size)
    try file.check(offset < bound, .truncated, "The file ends before this text.", at: offset)
    guard let found = try text(file, at: offset, before: bound, limit: limit) else {
      guard bound < end, bound - offset <= UInt64(max(0, limit)) else {
        throw file.unterminated(limit, at: offset)
      }
      throw file.error(.truncated, "The file ends inside this text.", at: offset)
    }
    return body(found.bytes.span.extracting(found.range))
  }
}
