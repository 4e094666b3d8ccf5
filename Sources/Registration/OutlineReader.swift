internal import BinaryImage

/// Reads the three sections of a loaded image, and makes values of what is not plain only.
///
/// What is plain is decided here; whatever leaves a doubt goes the way of every file.
struct OutlineReader {
  private(set) var outline: Outline
  private var collector: ScanCollector
  private var position: UInt32 = 0

  init(_ image: LoadedImage) {
    outline = Outline(of: image)
    collector = ScanCollector(image: image.identity.path)
  }

  /// Reads the sections, in this order.
  mutating func read(modules: [Section], services: [Section], records: [Section]) {
    collector.begin(sectionsNamed: RecordScanner.modules, of: .module)
    for section in modules {
      readPointers(section, .module, plain: Self.module, decode: PointerEntries.module)
    }
    collector.endSections()
    collector.begin(sectionsNamed: RecordScanner.services, of: .service)
    for section in services {
      readPointers(section, .service, plain: Self.service, decode: PointerEntries.service)
    }
    collector.endSections()
    collector.begin(sectionsNamed: RecordScanner.typedRecords)
    for section in records { readRecords(section) }
    collector.endSections()
    outline.others = collector.scan
  }

  /// The name of a plain entry, and how much text it has with what implements it.
  private typealias PlainText = (name: Range<Int>, size: Int)

  // MARK: Pointer sections

  private mutating func readPointers(
    _ section: Section, _ kind: RecordKind, plain: (Span<UInt8>) -> PlainText?,
    decode: (Span<UInt8>) -> PointerEntries.Content
  ) {
    let slotSize = UInt64(MemoryLayout<UInt>.size)
    let image = outline.image
    begin(section, entryCount: Int(section.size / slotSize))
    do throws(ImageError) {
      try image.withCopy(of: section) { copy, bytes, texts in
        var offset: UInt64 = 0
        for text in texts {
          guard collector.hasRoom(at: offset) else { return }
          if fits(copy), text.state == .copied, text.bytes.count <= PointerEntries.textLimit,
            let found = plain(copy.extracting(text.bytes))
          {
            leave(kind, found, from: text.bytes.lowerBound, of: copy, at: offset)
          } else {
            readElse { collector in
              PointerEntries.readSlot(
                at: offset, in: section, of: image, into: &collector, decode: decode)
            }
          }
          collector.index += 1
          offset += slotSize
        }
        PointerEntries.rejectRest(
          UInt64(bytes.count) - offset, at: offset, slotSize: slotSize, into: &collector)
      }
    } catch {
      collector.reject(.unreadableSection, at: 0, error.message)
    }
  }

  /// A name of ASCII.
  private static func module(_ text: Span<UInt8>) -> PlainText? {
    guard !text.isEmpty, text.isASCII else { return nil }
    return (0..<text.count, text.count)
  }

  /// `{ "Service" : "Implementation" }` of printable ASCII without escapes, blanks between.
  private static func service(_ text: Span<UInt8>) -> PlainText? {
    guard text.isPrintable(without: UInt8(ascii: "\\")) else { return nil }
    var position = 0
    guard text.skip(UInt8(ascii: "{"), &position), let name = text.quoted(&position),
      text.skip(UInt8(ascii: ":"), &position), let implementation = text.quoted(&position),
      text.skip(UInt8(ascii: "}"), &position)
    else { return nil }
    text.skipBlanks(&position)
    guard position == text.count, !name.isEmpty, !implementation.isEmpty else { return nil }
    return (name, name.count + implementation.count)
  }

  // MARK: Typed records

  private mutating func readRecords(_ section: Section) {
    let image = outline.image
    begin(section, entryCount: Int(section.size) / TypedRecords.typicalSize)
    do throws(ImageError) {
      try image.withCopy(of: section) { copy, range, _ in
        let bytes = copy.extracting(range)
        var start = 0
        while start < bytes.count {
          let offset = UInt64(start)
          guard collector.hasRoom(at: offset) else { return }
          if fits(copy), let record = Self.plainRecord(bytes, at: start) {
            leave(record.kind, record.text, from: range.lowerBound + start, of: copy, at: offset)
            collector.index += 1
            start += record.size
          } else {
            let next = readElse { collector in
              TypedRecords.readNext(bytes, at: start, in: section, of: image, into: &collector)
            }
            guard let next else { return }
            start = next
          }
        }
      }
    } catch {
      collector.reject(.unreadableSection, at: 0, error.message)
    }
  }

  /// A record of version 1 with a text of ASCII, attributes that are in order, and no accessor.
  private static func plainRecord(
    _ bytes: Span<UInt8>, at start: Int
  ) -> (size: Int, kind: RecordKind, text: PlainText)? {
    let head = TypedRecords.headSize
    guard bytes.count - start > head else { return nil }
    let first = bytes.word(at: start)
    let size = Int(first & 0xffff_ffff)
    let kind = RecordKind(rawValue: UInt16(truncatingIfNeeded: first >> 48))
    guard size > head, size % 8 == 0, size <= bytes.count - start,
      UInt16(truncatingIfNeeded: first >> 32) == TypedRecords.version,
      kind == .module || kind == .service,
      bytes.word(at: start + 8) >> 32 == UInt64(head), bytes.word(at: start + 16) == 0
    else { return nil }
    let text = bytes.extracting(start + head..<start + size)
    guard text[text.count - 1] == 0, text.isASCII,
      let nameEnd = text.first(0, from: 0), nameEnd > 0,
      let namesEnd = text.first(0, from: nameEnd + 1)
    else { return nil }
    var attributes = PlainAttributes()
    guard attributes.takeAll(of: text.extracting((namesEnd + 1)...)) else { return nil }
    return (size, kind, (head..<head + nameEnd, namesEnd - 1))
  }

  // MARK: Both

  private mutating func begin(_ section: Section, entryCount: Int) {
    collector.begin(section, entryCount: 0)
    outline.sections.append(section)
    let room = outline.plain.count + min(entryCount, 1 << 14)
    if outline.plain.capacity < room { outline.plain.reserveCapacity(room) }
  }

  /// Whether places in the copy fit into the fields of a plain entry.
  private func fits(_ copy: Span<UInt8>) -> Bool {
    copy.count <= Int(UInt32.max) && outline.sections.count <= Int(UInt16.max)
  }

  @inline(__always)
  private mutating func leave(
    _ kind: RecordKind, _ text: PlainText, from start: Int, of copy: Span<UInt8>,
    at offset: UInt64
  ) {
    let name = start + text.name.lowerBound
    outline.plain.append(
      Outline.PlainEntry(
        kind: kind,
        hash: NameHash.of(copy.extracting(name..<name + text.name.count), kind),
        position: position, section: UInt16(outline.sections.count - 1),
        index: UInt32(collector.index), offset: UInt32(offset), nameStart: UInt32(name),
        nameCount: UInt32(text.name.count)))
    position += 1
    collector.leave(textSize: text.size)
  }

  /// Has an entry read by the rules for all.
  private mutating func readElse<Answer>(
    _ read: (inout ScanCollector) -> Answer
  ) -> Answer {
    let before = collector.scan.records.count
    let answer = read(&collector)
    if collector.scan.records.count > before {
      outline.otherPositions.append(position)
      position += 1
    }
    return answer
  }
}

extension Span<UInt8> {
  fileprivate func skipBlanks(_ position: inout Int) {
    while position < count, self[position] == UInt8(ascii: " ") { position += 1 }
  }

  /// Whether a byte comes next, behind blanks.
  fileprivate func skip(_ byte: UInt8, _ position: inout Int) -> Bool {
    skipBlanks(&position)
    guard position < count, self[position] == byte else { return false }
    position += 1
    return true
  }

  /// The text between the quotes that come next, behind blanks.
  fileprivate func quoted(_ position: inout Int) -> Range<Int>? {
    guard skip(UInt8(ascii: "\""), &position), let end = first(UInt8(ascii: "\""), from: position)
    else { return nil }
    defer { position = end + 1 }
    return position..<end
  }
}
