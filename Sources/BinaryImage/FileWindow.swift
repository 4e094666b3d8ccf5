/// The stretches of a file that were read last, so that neighbours cost no system call.
///
/// Stretches grow from 64 KiB to 4 MiB from one read to the next, so that few reads serve texts in any order. If even
/// large ones do not help, small ones cost less.
struct FileWindow {
  /// The stretches; the one that served last comes first.
  private var stretches: [(start: UInt64, bytes: [UInt8])] = []
  private var reads = 0

  /// The most stretches that are kept, and the number of reads after which large ones do not help.
  static let (mostStretches, helpfulReads) = (10, 48)

  /// Returns the bytes around `offset` that were read before, and the position of `offset` among them.
  mutating func known(_ offset: UInt64, _ end: UInt64) -> (
    bytes: [UInt8], position: Int
  )? {
    let found = stretches.firstIndex {
      offset >= $0.start && end <= $0.start + UInt64($0.bytes.count)
    }
    guard let found else { return nil }
    if found > 0 { stretches.insert(stretches.remove(at: found), at: 0) }
    return (stretches[0].bytes, Int(offset - stretches[0].start))
  }

  /// Returns the stretch to read for these bytes of a file of `size` bytes.
  fileprivate func next(_ offset: UInt64, _ end: UInt64, of size: UInt64) -> Range<UInt64> {
    let most: UInt64 =
      reads > Self.helpfulReads ? 1 << 16 : 1 << UInt64(min(16 + 2 * reads, 22))
    let first = offset & ~(most - 1)
    return first..<min(size, max(end, first + most))
  }

  fileprivate mutating func keep(_ bytes: [UInt8], from start: UInt64) {
    if stretches.count == Self.mostStretches { stretches.removeLast() }
    stretches.insert((start, bytes), at: 0)
    reads += 1
  }
}

extension OpenedFile {
  /// The most bytes of a name; a longer one counts as a sign of a corrupt table.
  package static let longestName = 1 << 16

  /// Returns the bytes around `offset`, at least `count` of them, and the position of `offset` among them.
  package func load(
    at offset: UInt64, count: Int
  ) throws(ImageError) -> (bytes: [UInt8], position: Int) {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(max(0, count)))
    if !overflow, let known = window.known(offset, end) { return known }
    guard !overflow, end <= size else { throw endsBefore(offset, count) }
    if end <= UInt64(head.count) { return (head, Int(offset)) }
    let range = window.next(offset, end, of: size)
    let bytes = try read(at: range.lowerBound, count: range.count)
    window.keep(bytes, from: range.lowerBound)
    return (bytes, Int(offset - range.lowerBound))
  }

  /// Returns the text at `offset` without its NUL, among bytes that hold it. Nil if no NUL comes within `limit` bytes
  /// of text and before `end`.
  package func text(
    at offset: UInt64, before end: UInt64, limit: Int
  ) throws(ImageError) -> (bytes: [UInt8], range: Range<Int>)? {
    guard offset < end else { return nil }
    let most = Int(min(end - offset, UInt64(max(0, limit)) + 1))
    var count = min(most, 256)
    while true {
      let (bytes, position) = try load(at: offset, count: count)
      let visible = bytes.span.extracting(position..<min(bytes.count, position + most))
      if let length = visible.textLength(from: 0) { return (bytes, position..<position + length) }
      guard visible.count < most else { return nil }
      count = min(most, max(count, visible.count) * 2)
    }
  }

  /// Returns the name of a symbol, at an offset of a table of names; empty at offset 0.
  package func name(at offset: UInt64, in names: FileExtent) throws(ImageError) -> String {
    guard offset != 0 else { return "" }
    let found = try text(
      at: names.offset.saturating(adding: offset),
      before: min(size, names.offset.saturating(adding: names.size)), limit: Self.longestName)
    guard let found else {
      throw error(.malformed, "A symbol's name lies outside the string table.", at: names.offset)
    }
    return String(decoding: found.bytes.span.extracting(found.range))
  }

  /// Lends the text at `offset`, which its mapping bounds to `size` bytes, for the call's duration.
  package func withText<Result>(
    at offset: UInt64, size: UInt64, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let (end, overflow) = offset.addingReportingOverflow(size)
    let bound = overflow ? self.size : min(end, self.size)
    try check(offset < bound, .truncated, "The file ends before this text.", at: offset)
    guard let found = try text(at: offset, before: bound, limit: limit) else {
      guard bound < end, bound - offset <= UInt64(max(0, limit)) else {
        throw unterminated(limit, at: offset)
      }
      throw error(.truncated, "The file ends inside this text.", at: offset)
    }
    return body(found.bytes.span.extracting(found.range))
  }
}

/// A range of the bytes of a file.
package struct FileExtent {
  /// The distance from the start of the file.
  package var offset: UInt64
  /// The size in bytes.
  package var size: UInt64

  /// Describes a range.
  package init(offset: UInt64, size: UInt64) { (self.offset, self.size) = (offset, size) }
}

extension OpenedFile {
  /// Returns whether the file has all `extentSize` bytes at `offset`.
  package func holds(_ offset: UInt64, _ extentSize: UInt64) -> Bool {
    offset <= size && extentSize <= size - offset
  }

  /// Passes whole entries of `entry` bytes to `body`, many at once: all that the extent holds.
  package func forEachPiece(
    of extent: FileExtent, entry: Int, _ body: ([UInt8]) throws(ImageError) -> Void
  ) throws(ImageError) {
    let whole = extent.size - extent.size % UInt64(entry)
    let most = UInt64(1 << 16 / entry * entry)
    var done: UInt64 = 0
    while done < whole {
      let size = min(most, whole - done)
      try body(read(at: extent.offset + done, count: Int(size)))
      done += size
    }
  }

  /// Returns the part of a range that the file has.
  package func held(at offset: UInt64, _ extentSize: UInt64) -> FileExtent {
    FileExtent(offset: offset, size: min(extentSize, size - min(size, offset)))
  }

  /// Returns the offset of a section in this part of the file.
  package func place(of section: Section) -> UInt64? { section.offset.map { $0.rawValue &- base } }

  /// Returns the offset in the whole file of a byte of this part.
  package func offset(_ place: UInt64) -> FileOffset { FileOffset(rawValue: base &+ place) }
}

/// The bytes that an image is: all bytes of a file, or the bytes of a member or a slice.
package struct FilePart: Hashable, Codable, Sendable {
  /// The path of the file, as the system takes it.
  package var path: [UInt8]
  /// The offset of the image in the file.
  package var offset: UInt64
  /// The size of the image in bytes.
  package var size: UInt64

  /// Passes the bytes to `body`, in pieces that begin and end at the same places for every part of this size.
  ///
  /// Throws if the file is gone, or ends before these bytes do.
  package func forEachPiece(_ body: ([UInt8]) -> Void) throws(ImageError) {
    let file = try OpenedFile(path: path)
    let (end, overflow) = offset.addingReportingOverflow(size)
    try file.check(
      !overflow && end <= file.size, .truncated, "The file has become smaller since it was read.",
      at: offset)
    try file.forEachPiece(of: FileExtent(offset: offset, size: size), entry: 1, body)
  }
}
