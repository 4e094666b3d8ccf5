internal import BinaryImage

/// `BeehiveRecords`: records with a head of 32 bytes and their text behind it.
///
/// `size` (u32), `version` (u16), `kind` (u16), `flags` (u32), `textOffset` (u32), `accessor` and
/// `context` (8 bytes each), then fields that end with NUL: name, implementation, `key=value` ….
enum TypedRecords {
  static let headSize = 32
  static let version: UInt16 = 1
  private static let accessorOffset: UInt64 = 16
  private static let contextOffset: UInt64 = 24
  static let typicalSize = 64

  /// Reads every record of `section`.
  static func read(
    _ section: Section, of image: some Image, into collector: inout ScanCollector
  ) {
    do throws(ImageError) {
      try image.withBytes(of: section) { bytes in
        collector.begin(section, entryCount: bytes.count / typicalSize)
        readAll(bytes, section, of: image, into: &collector)
      }
    } catch {
      collector.begin(section, entryCount: 0)
      collector.reject(.unreadableSection, at: 0, error.message)
    }
  }

  private static func readAll(
    _ bytes: Span<UInt8>, _ section: Section, of image: some Image,
    into collector: inout ScanCollector
  ) {
    var start = 0
    while start < bytes.count {
      guard collector.hasRoom(at: UInt64(start)),
        let next = readNext(bytes, at: start, in: section, of: image, into: &collector)
      else { return }
      start = next
    }
  }

  /// Reads the record that begins at `offset`.
  static func readOne(
    at offset: UInt64, in section: Section, of image: some Image,
    into collector: inout ScanCollector
  ) {
    do throws(ImageError) {
      try image.withBytes(of: section) { bytes in
        _ = readNext(bytes, at: Int(offset), in: section, of: image, into: &collector)
      }
    } catch {
      collector.reject(.unreadableSection, at: offset, error.message)
    }
  }

  /// Reads what begins at `start`, a record or a word of padding: where the next one begins, or nil
  /// where the scan of the section stops.
  static func readNext(
    _ bytes: Span<UInt8>, at start: Int, in section: Section, of image: some Image,
    into collector: inout ScanCollector
  ) -> Int? {
    let order = image.identity.byteOrder
    let offset = UInt64(start)
    let rest = bytes.count - start
    collector.kind = rest >= 8 ? RecordKind(rawValue: bytes.word16(at: start + 6, order)) : .unknown
    guard rest >= 8 else {
      // The end of a section that some linker rounded up to less than a word.
      guard !bytes.extracting(start...).isZero else { return nil }
      collector.reject(
        .badRecordSize, at: offset,
        "\(rest) bytes are left behind the last record; an entry in this section is no record")
      collector.index += 1
      return nil
    }
    let size = Int(bytes.word32(at: start, order))
    if size == 0 { return start + 8 }
    guard size >= headSize, size % 8 == 0, size <= rest else {
      collector.reject(.badRecordSize, at: offset, sizeMessage(size, rest: rest))
      collector.index += 1
      return nil
    }
    let record = bytes.extracting(start..<(start + size))
    readRecord(record, order, at: offset, in: section, of: image, into: &collector)
    collector.index += 1
    return start + size
  }

  private static func sizeMessage(_ size: Int, rest: Int) -> String {
    let fault =
      if size < headSize {
        "which is less than the head of \(headSize)"
      } else if size % 8 != 0 {
        "which is no multiple of 8"
      } else {
        "of which only \(rest) are left in the section"
      }
    return "claims a size of \(size) bytes, \(fault); the scan of this section stops here, "
      + "\(rest) bytes were not read"
  }

  /// Reads one record; the next begins behind it, whatever is wrong with this one.
  private static func readRecord(
    _ record: Span<UInt8>, _ order: ImageIdentity.ByteOrder, at offset: UInt64,
    in section: Section, of image: some Image, into collector: inout ScanCollector
  ) {
    let found = record.word16(at: 4, order)
    guard found == version else {
      collector.reject(
        .unknownVersion, at: offset,
        "is of version \(found), this reader knows \(version); "
          + "build the image and its host with the same BeeHive")
      return
    }
    let kind = collector.kind
    guard kind.isKnown || kind.isThirdParty else {
      collector.reject(
        .unknownKind, at: offset,
        "is of kind \(kind.rawValue), which has no meaning; own kinds start at 0x8000")
      return
    }
    guard record.count > headSize else {
      collector.reject(
        .badTextOffset, at: offset,
        "has no text behind its head of \(headSize) bytes; give it a name")
      return
    }
    let textOffset = Int(record.word32(at: 12, order))
    guard textOffset >= headSize, textOffset < record.count else {
      collector.reject(
        .badTextOffset, at: offset,
        "claims that its text starts at byte \(textOffset); "
          + "it must lie in \(headSize)..<\(record.count)")
      return
    }
    guard record[record.count - 1] == 0 else {
      collector.reject(
        .unterminatedText, at: offset,
        "has a text that no NUL ends; its \(record.count) bytes were passed over, "
          + "the scan goes on behind them")
      return
    }
    readText(
      record.extracting(textOffset...), of: kind, at: offset, in: section, of: image,
      into: &collector)
  }

  private static func readText(
    _ text: Span<UInt8>, of kind: RecordKind, at offset: UInt64, in section: Section,
    of image: some Image, into collector: inout ScanCollector
  ) {
    var position = 0
    let name: String
    switch EntryText(copying: text.extracting(text.field(at: &position))) {
    case .text(let text) where text.isEmpty:
      collector.reject(.emptyName, at: offset, "has an empty name; give the \(kind) one")
      return
    case .text(let text): name = text
    case .invalid(let byte):
      collector.reject(
        .invalidUTF8, at: offset, EntryText.invalidMessage("the name", at: byte))
      return
    }

    // `&table` as a C author writes an operand; the operator is no part of the name.
    if position < text.count, text[position] == UInt8(ascii: "&") { position += 1 }
    let implementation: String?
    switch EntryText(copying: text.extracting(text.field(at: &position))) {
    case .text(let text): implementation = text.isEmpty ? nil : text
    case .invalid(let byte):
      collector.reject(
        .invalidUTF8, at: offset, name: name,
        EntryText.invalidMessage("the implementation", at: byte))
      return
    }

    let attributes: Attributes
    do throws(AttributeFields.Failure) {
      attributes = try readAttributes(text.extracting(position...))
    } catch {
      switch error {
      case .invalidUTF8(let byte):
        collector.reject(
          .invalidUTF8, at: offset, name: name, EntryText.invalidMessage("an attribute", at: byte))
      case .malformed(let message):
        collector.reject(.badAttribute, at: offset, name: name, "the attribute " + message)
      }
      return
    }

    do throws(ImageError) {
      collector.accept(
        Record(
          kind: kind, name: name, implementation: implementation, attributes: attributes,
          encoding: .inline, resolution: .none,
          accessor: try image.pointer(at: offset + accessorOffset, in: section),
          context: try image.pointer(at: offset + contextOffset, in: section),
          origin: collector.origin(at: offset)))
    } catch {
      collector.reject(.unresolvedPointer, at: offset, name: name, error.message)
    }
  }

  private static func readAttributes(
    _ text: Span<UInt8>
  ) throws(AttributeFields.Failure) -> Attributes {
    // Most records end here: nothing but padding.
    guard !text.isZero else { return Attributes() }
    var fields = AttributeFields()
    var position = 0
    while position < text.count {
      let field = text.field(at: &position)
      // Padding, or an attribute that a macro left empty.
      guard !field.isEmpty else { continue }
      try fields.add(text.extracting(field))
    }
    return fields.attributes
  }
}

extension Span<UInt8> {
  fileprivate func word16(at offset: Int, _ order: ImageIdentity.ByteOrder) -> UInt16 {
    let (first, second) = (UInt16(self[offset]), UInt16(self[offset + 1]))
    return order == .little ? first | second << 8 : first << 8 | second
  }

  fileprivate func word32(at offset: Int, _ order: ImageIdentity.ByteOrder) -> UInt32 {
    let first = UInt32(word16(at: offset, order))
    let second = UInt32(word16(at: offset + 2, order))
    return order == .little ? first | second << 16 : first << 16 | second
  }

  fileprivate var isZero: Bool {
    for index in indices where self[index] != 0 { return false }
    return true
  }

  /// The range from `position` to the next NUL or the end; moves `position` behind the NUL.
  fileprivate func field(at position: inout Int) -> Range<Int> {
    let start = position
    while position < count, self[position] != 0 { position += 1 }
    let end = position
    if position < count { position += 1 }
    return start..<end
  }
}
