internal import BinaryImage

/// Reads the entries of an image: one grammar and one rulebook for files and for memory.
///
/// A refused entry never hides its neighbours, and a section whose bytes cannot be read is one rejection that
/// hides no other section.
struct EntryReader<Source: Image> {
  /// Receives each checked entry, the text that its parts are ranges of, if it was read the pointer that leads
  /// there, and the section of the entry. May still refuse the entry.
  typealias Take = (RecordView, Span<UInt8>, PointerValue?, Section) throws(Refusal) -> Void

  private let image: Source
  private(set) var tally: EntryTally

  init(_ image: Source) {
    self.image = image
    tally = EntryTally(image: image.path)
  }

  /// Reads sections that have these names.
  mutating func read(_ sections: EntrySections, _ take: Take) {
    tally.admit(sections.all.reduce(0) { $0.saturating(adding: $1.size) })
    for (name, kind, sections) in sections.byName {
      tally.begin(sectionsNamed: name, of: kind)
      for section in sections {
        guard section.isMapped else {
          tally.begin(section)
          tally.reject(
            Refusal(
              .unreadableSection,
              "is not mapped (no flag A, or no memory at its address), so no process has its entries; "
                + "link them anew instead of adding the section to the file"), at: 0)
          continue
        }
        if kind == .unknown {
          readRecords(section, take)
        } else {
          readPointers(section, kind, take)
        }
      }
      tally.endSections()
    }
  }

  // MARK: Pointer sections

  private mutating func readPointers(_ section: Section, _ kind: RecordKind, _ take: Take) {
    tally.begin(section)
    let slotSize = UInt64(image.pointerSize)
    var end: UInt64 = 0
    do throws(ImageError) {
      let size = try image.forEachSlot(of: section, limit: PointerGrammar.limit) {
        offset, pointer, text in
        guard tally.hasRoom(at: offset) else { return false }
        end = offset + slotSize
        if let text {
          readPointer(text, pointer, kind, at: offset, in: section, take)
        } else if let refusal = refusal(ofTextAt: offset, in: section) {
          tally.reject(refusal, at: offset)
        }
        tally.index += 1
        return true
      }
      // Also where the reading stopped, the rest is smaller than a slot or was told.
      guard size - end < slotSize, size > end else { return }
      tally.reject(
        Refusal(
          .oddSectionSize,
          "\(size - end) bytes are left behind the last whole pointer of \(slotSize); "
            + "an entry in this section is no const char *"), at: end)
      tally.index += 1
    } catch {
      tally.reject(Refusal(.unreadableSection, error.message), at: 0)
    }
  }

  private mutating func readPointer(
    _ text: Span<UInt8>, _ pointer: PointerValue?, _ kind: RecordKind, at offset: UInt64,
    in section: Section, _ take: Take
  ) {
    do throws(Refusal) {
      let view = RecordView(
        try PointerGrammar.parts(of: text, kind: kind), of: text, encoding: .pointer,
        section: tally.sectionNumber,
        index: tally.index, offset: offset)
      try take(view, text, pointer, section)
      tally.count(view)
    } catch {
      tally.reject(error, at: offset)
    }
  }

  /// Why a slot leads to no text; nil where it is padding.
  private func refusal(ofTextAt offset: UInt64, in section: Section) -> Refusal? {
    let pointer: PointerValue
    do throws(ImageError) { pointer = try image.pointer(at: offset, in: section) } catch {
      return Refusal(.unresolvedPointer, error.message)
    }
    switch pointer.target {
    case .address, .section:
      do throws(ImageError) {
        try image.withText(ofSlotAt: offset, in: section, limit: PointerGrammar.limit) { _ in }
      } catch {
        return Self.refusal(of: error, pointer)
      }
      return Refusal(.unresolvedPointer, "leads to a text that could not be read before")
    // Every entry is aligned to 8; behind a pointer of four bytes, four of nothing follow.
    case .null where offset % 8 != 0: return nil
    case .null:
      return Refusal(.nullPointer, "holds a null pointer; remove the entry or point it at a text")
    case .foreign(let address):
      return Self.outside(UInt64(address.rawValue).hexadecimal)
    case .imported(let symbol, let addend):
      return Refusal(
        .unresolvedPointer,
        "points at \(PointerValue.name(ofImport: symbol, addend: addend)) of another image; point it at a "
          + "text of the same image")
    case .unresolvable(let why): return Refusal(.unresolvedPointer, why)
    }
  }

  /// Why the text that `pointer` leads to cannot be read.
  private static func refusal(of error: ImageError, _ pointer: PointerValue) -> Refusal {
    let place =
      switch pointer.target {
      case .address(let address): address.rawValue.hexadecimal
      case .section(let index, let offset): "section \(index) + \(offset.hexadecimal)"
      default: pointer.rawValue.hexadecimal
      }
    return switch error.code {
    case .outOfImage: outside(place)
    case .unterminated:
      Refusal(
        .unterminatedText,
        "points at \(place), where no NUL ends the text within \(PointerGrammar.limit) bytes of the image"
      )
    default:
      Refusal(.unresolvedPointer, "points at \(place), which cannot be read: \(error.message)")
    }
  }

  private static func outside(_ place: String) -> Refusal {
    Refusal(
      .pointerOutsideImage,
      "points outside the image (\(place)); point it at a text of the same image")
  }

  // MARK: Typed records

  private mutating func readRecords(_ section: Section, _ take: Take) {
    tally.begin(section)
    let grammar = RecordGrammar(order: image.identity.byteOrder)
    do throws(ImageError) {
      try image.withBytes(of: section) { bytes in
        var start = 0
        while start < bytes.count {
          let offset = UInt64(start)
          guard tally.hasRoom(at: offset) else { return }
          tally.kind = grammar.kind(at: start, in: bytes)
          do throws(Refusal) {
            guard let record = try grammar.extent(at: start, in: bytes) else { return }
            start = record.upperBound
            guard record.count >= RecordGrammar.headSize else { continue }
            readRecord(bytes.extracting(record), grammar, at: offset, in: section, take)
          } catch {
            tally.reject(error, at: offset)
            tally.index += 1
            return
          }
          tally.index += 1
        }
      }
    } catch {
      tally.reject(Refusal(.unreadableSection, error.message), at: 0)
    }
  }

  private mutating func readRecord(
    _ record: Span<UInt8>, _ grammar: RecordGrammar, at offset: UInt64, in section: Section,
    _ take: Take
  ) {
    var name: Range<Int>?
    do throws(Refusal) {
      let parts = try grammar.parts(of: record, kind: tally.kind)
      name = parts.name
      let attributes = record.extracting(parts.attributes)
      try AttributeRules.check(attributes, of: parts.kind, isASCII: parts.isASCII)
      let view = RecordView(
        parts, of: record, encoding: .inline, section: tally.sectionNumber, index: tally.index,
        offset: offset)
      if parts.kind == .target || parts.kind == .route {
        try RoutingRules.check(
          parts.kind, view.nameText(in: record), Attributes(checked: attributes))
      }
      try take(view, record, nil, section)
      tally.count(view)
    } catch {
      var refusal = error
      if let name { refusal.name = String(checked: record.extracting(name)) }
      tally.reject(refusal, at: offset)
    }
  }
}

/// The sections of an image that hold entries.
struct EntrySections {
  private static let names: [(String, RecordKind)] = [
    (RecordScanner.modules, .module), (RecordScanner.services, .service),
    (RecordScanner.typedRecords, .unknown),
  ]

  /// In the order in which they are read, with the kind of all entries; unknown where each has its own.
  let byName: [(name: String, kind: RecordKind, sections: [Section])]

  /// Throws where sections cannot be looked for.
  init(of image: some Image) throws(ImageError) {
    byName = try Self.names.map { name, kind throws(ImageError) in
      (name, kind, try image.sections(named: name))
    }
  }

  /// In the order in which they are read.
  var all: [Section] { byName.flatMap(\.sections) }
}
