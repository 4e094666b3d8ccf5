internal import BinaryImage

/// The grammar of `BeehiveRecords`: records with a head of 32 bytes, then their text.
///
/// `size` (u32), `version` (u16), `kind` (u16), `flags` (u32), `textOffset` (u32), `accessor` and
/// `context` (8 bytes each), then fields that end with NUL: name, implementation, `key=value` ….
struct RecordGrammar {
  static let headSize = 32
  static let accessorOffset = 16
  static let contextOffset = 24
  private static let version: UInt16 = 1

  let order: ImageIdentity.ByteOrder

  /// Returns the kind that the head at `start` claims.
  func kind(at start: Int, in bytes: Span<UInt8>) -> RecordKind {
    bytes.count - start >= 8
      ? RecordKind(rawValue: bytes.word16(at: start + 6, order)) : .unknown
  }

  /// Returns the bytes of the record that begins at `start`, or of a word of padding, which is shorter than a head.
  /// Returns nil after the last record; throws if the next record cannot be found.
  func extent(at start: Int, in bytes: Span<UInt8>) throws(Refusal) -> Range<Int>? {
    let rest = bytes.count - start
    guard rest >= 8 else {
      // The end of a section that some linker rounded up to less than a word.
      guard !bytes.extracting(start...).isZero else { return nil }
      throw Refusal(
        .badRecordSize,
        "\(rest.counted("byte")) left behind the last record; an entry in this section is no record"
      )
    }
    let size = Int(bytes.word32(at: start, order))
    if size == 0 { return start..<start + 8 }
    try Refusal.check(
      size >= Self.headSize && size % 8 == 0 && size <= rest, .badRecordSize,
      "claims a size of \(size.counted("byte")), but must have a multiple of 8 from \(Self.headSize) to the \(rest) "
        + "bytes that are left; the scan of this section stops here, \(rest) bytes were not read")
    return start..<start + size
  }

  /// Reads the name of a record of a kind. Returns it with its end.
  func name(
    of record: Span<UInt8>, kind: RecordKind
  ) throws(Refusal) -> (name: String, end: Int) {
    let start = try textOffset(of: record, kind)
    guard let end = record.first(0, from: start) else { throw Self.unterminated(record) }
    try Refusal.check(end > start, .emptyName, "has an empty name; give the \(kind) one")
    return (try record.extracting(start..<end).text("the name"), end)
  }

  /// Reads the fields after the name of a record. Returns the implementation, and the range of the attributes.
  func implementation(
    of record: Span<UInt8>, behind end: Int
  ) throws(Refusal) -> (name: String?, attributes: Range<Int>) {
    var start = end + 1
    guard start < record.count else { return (nil, 0..<0) }
    // `&table` as a C author writes an operand; the operator is not part of the name.
    if record[start] == UInt8(ascii: "&") { start += 1 }
    guard let end = record.first(0, from: start) else { throw Self.unterminated(record) }
    let name = try record.extracting(start..<end).text("the implementation")
    return (name.isEmpty ? nil : name, end + 1..<record.count)
  }

  /// Returns the beginning of a record's text, which ends with NUL.
  private func textOffset(of record: Span<UInt8>, _ kind: RecordKind) throws(Refusal) -> Int {
    let found = record.word16(at: 4, order)
    try Refusal.check(
      found == Self.version, .unknownVersion,
      "is of version \(found), this reader knows \(Self.version); "
        + "build the image and its host with the same BeeHive")
    try Refusal.check(
      kind.isKnown || kind.isThirdParty, .unknownKind,
      "is of kind \(kind.rawValue), which has no meaning; own kinds start at 0x8000")
    try Refusal.check(
      record.count > Self.headSize, .badTextOffset,
      "has no text behind its head of \(Self.headSize) bytes; give it a name")
    let offset = Int(record.word32(at: 12, order))
    try Refusal.check(
      offset >= Self.headSize && offset < record.count, .badTextOffset,
      "claims that its text starts at byte \(offset); "
        + "it must lie in \(Self.headSize)..<\(record.count)")
    guard record[record.count - 1] == 0 else { throw Self.unterminated(record) }
    return offset
  }

  private static func unterminated(_ record: Span<UInt8>) -> Refusal {
    Refusal(
      .unterminatedText,
      "has a text without a NUL at its end; the record's \(record.count) bytes were skipped, and the scan "
        + "goes on after them")
  }
}

extension Span<UInt8> {
  fileprivate func word16(at offset: Int, _ order: ImageIdentity.ByteOrder) -> UInt16 {
    let (first, second) = (UInt16(self[offset]), UInt16(self[offset + 1]))
    return order == .little ? first | second << 8 : first << 8 | second
  }

  fileprivate func word32(at offset: Int, _ order: ImageIdentity.ByteOrder) -> UInt32 {
    let (first, second) = (word16(at: offset, order), word16(at: offset + 2, order))
    return order == .little
      ? UInt32(first) | UInt32(second) << 16 : UInt32(first) << 16 | UInt32(second)
  }

  /// Returns the position of the first `byte` from `start` on; nil if there is none.
  func first(_ byte: UInt8, from start: Int) -> Int? {
    for index in start..<count where self[index] == byte { return index }
    return nil
  }

  /// Whether all bytes are NUL.
  var isZero: Bool {
    for index in indices where self[index] != 0 { return false }
    return true
  }
}

// The texts of an entry. Fields end at bytes of ASCII, so each can be validated by itself.

extension Span<UInt8> {
  /// Returns the text; throws unless this is UTF-8. The message calls it `what`.
  func text(_ what: String) throws(Refusal) -> String {
    try checkUTF8(what)
    return String(checked: self)
  }

  /// Throws unless this is UTF-8. The message calls it `what`.
  func checkUTF8(_ what: String) throws(Refusal) {
    do throws(UTF8.ValidationError) { _ = try UTF8Span(validating: self) } catch {
      throw Refusal(
        .invalidUTF8,
        "\(what) is not UTF-8 from its byte \(error.byteOffsets.lowerBound) on; save the source as UTF-8"
      )
    }
  }
}

extension String {
  /// Copies bytes that are known to be UTF-8.
  init(checked bytes: Span<UInt8>) {
    // Sound: the buffer is only used inside the call. Bytes that are not UTF-8 would be replaced.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
