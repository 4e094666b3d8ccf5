internal import BinaryImage

/// Reads the entries of an image: one grammar and one rulebook for files and for memory.
///
/// A refused entry never hides its neighbours, and a section whose bytes cannot be read is one rejection that
/// hides no other section.
struct EntryReader<Source: Image> {
  private let image: Source
  private let keepsPointers: Bool
  private(set) var records: [Record] = []
  private var tally: EntryTally
  /// Made once, at the first record in C.
  private lazy var memory = image.addressedMemory

  var rejections: [Rejection] { tally.rejections }

  init(_ image: Source, keepsPointers: Bool) {
    (self.image, self.keepsPointers) = (image, keepsPointers)
    tally = EntryTally(image: image.path)
  }

  /// Reads sections that have these names.
  mutating func read(_ sections: EntrySections) {
    // Most files of a system end here, before anything is read that only says what they are.
    guard let most = sections.all.map(\.size).max() else { return }
    records.reserveCapacity(Int(min(most / 8, 16)))
    tally.admit(sections.all.reduce(0) { $0.saturating(adding: $1.size) })
    for (name, kind, sections) in sections.byName {
      tally.begin(sectionsNamed: name, of: kind)
      for section in sections {
        guard section.isMapped else {
          tally.begin(section)
          tally.reject(.notMapped(inObject: image.identity.kind == .object), at: 0)
          continue
        }
        if kind == .unknown {
          readRecords(section)
        } else {
          readPointers(section, kind)
        }
      }
      tally.endSections()
    }
  }

  // MARK: Pointer sections

  private mutating func readPointers(_ section: Section, _ kind: RecordKind) {
    tally.begin(section)
    let slotSize = UInt64(image.pointerSize)
    var end: UInt64 = 0
    do throws(ImageError) {
      let size = try image.forEachSlot(of: section, limit: PointerGrammar.limit) {
        offset, slot, text in
        guard tally.hasRoom(at: offset) else { return false }
        end = offset + slotSize
        if let text, case .pointer(let pointer) = slot {
          readPointer(text, pointer, kind, at: offset, in: section)
        } else if let refusal = Self.refusal(of: slot, at: offset) {
          tally.reject(
            refusal, at: offset,
            reading: refusal.reason == .unterminatedText ? PointerGrammar.limit : 0)
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
      tally.reject(Refusal(error), at: 0)
    }
  }

  private mutating func readPointer(
    _ text: Span<UInt8>, _ pointer: PointerValue, _ kind: RecordKind, at offset: UInt64,
    in section: Section
  ) {
    do throws(Refusal) {
      let parts = try PointerGrammar.parts(of: text, kind: kind)
      var record = record(parts, text, .pointer, at: offset, in: section)
      record.resolution = pointer.resolution
      if keepsPointers, case .address(let address) = pointer.target {
        record.textAddress = address
      }
      take(record, parts)
    } catch {
      tally.reject(error, at: offset, reading: text.count)
    }
  }

  /// Why a slot leads to no text; nil where it is padding.
  private static func refusal(of slot: SlotContents, at offset: UInt64) -> Refusal? {
    let pointer: PointerValue
    switch slot {
    case .pointer(let found): pointer = found
    case .unread(let pointer, let error): return refusal(of: error, pointer)
    case .unresolved(let error): return Refusal(error)
    }
    switch pointer.target {
    // The text was read then.
    case .address, .section: return nil
    // Every entry is aligned to 8; behind a pointer of four bytes, four of nothing follow.
    case .null where offset % 8 != 0: return nil
    case .null:
      return Refusal(.nullPointer, "holds a null pointer; remove the entry or point it at a text")
    case .foreign(let address):
      return outside(UInt64(address.rawValue).hexadecimal)
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
      Refusal(.unreadableSection, "points at \(place), which cannot be read: \(error.message)")
    }
  }

  private static func outside(_ place: String) -> Refusal {
    Refusal(
      .pointerOutsideImage,
      "points outside the image (\(place)); point it at a text of the same image")
  }

  // MARK: Typed records

  private mutating func readRecords(_ section: Section) {
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
            // Where the size is another one in a process, so are all records from here on.
            try checkKept(offset..<min(offset + 8, UInt64(bytes.count)), in: section)
            guard let record = try grammar.extent(at: start, in: bytes) else { return }
            start = record.upperBound
            guard record.count >= RecordGrammar.headSize else { continue }
            readRecord(record, of: bytes, grammar, in: section)
          } catch {
            tally.reject(error, at: offset)
            tally.index += 1
            return
          }
          tally.index += 1
        }
      }
    } catch {
      tally.reject(Refusal(error), at: 0)
    }
  }

  private mutating func readRecord(
    _ range: Range<Int>, of sectionBytes: Span<UInt8>, _ grammar: RecordGrammar, in section: Section
  ) {
    let (bytes, offset) = (sectionBytes.extracting(range), UInt64(range.lowerBound))
    var name: Range<Int>?
    do throws(Refusal) {
      let parts = try grammar.parts(of: bytes, kind: tally.kind)
      name = parts.name
      let (accessor, context) = (
        offset + UInt64(RecordGrammar.accessorOffset), offset + UInt64(RecordGrammar.contextOffset)
      )
      try checkKept(offset..<offset + UInt64(range.count), in: section, except: (accessor, context))
      try AttributeRules.check(bytes.extracting(parts.attributes), of: parts.kind)
      var record = record(parts, bytes, .inline, at: offset, in: section)
      try RoutingRules.check(parts.kind, record.name, record.attributes)
      record.accessor = try pointer(at: accessor, of: sectionBytes, in: section)
      record.context = try pointer(at: context, of: sectionBytes, in: section)
      try record.checkStructure(in: memory)
      if !keepsPointers { (record.accessor, record.context) = (nil, nil) }
      take(record, parts)
    } catch {
      var refusal = error
      if let name { refusal.name = String(checked: bytes.extracting(name)) }
      tally.reject(refusal, at: offset)
    }
  }

  /// Throws where the loader writes over these bytes of a section, except over these words.
  private func checkKept(
    _ range: Range<UInt64>, in section: Section, except pointers: (UInt64, UInt64)? = nil
  ) throws(Refusal) {
    do throws(ImageError) { try image.checkKept(range, in: section, except: pointers) } catch {
      throw Refusal(.unresolvedPointer, error.message)
    }
  }

  /// Reads the pointer in a field of a record.
  private func pointer(
    at offset: UInt64, of bytes: Span<UInt8>, in section: Section
  ) throws(Refusal) -> PointerValue {
    do throws(ImageError) { return try image.pointer(at: offset, of: bytes, in: section) } catch {
      throw Refusal(error)
    }
  }

  // MARK: Values

  /// The value of an entry that was checked, without its pointers.
  private func record(
    _ parts: EntryParts, _ text: Span<UInt8>, _ encoding: Record.Encoding, at offset: UInt64,
    in section: Section
  ) -> Record {
    func string(_ part: Range<Int>) -> String {
      let bytes = text.extracting(part)
      return parts.hasEscapes ? JSONStringPair.decoded(bytes) : String(checked: bytes)
    }
    return Record(
      kind: parts.kind, name: string(parts.name),
      implementation: parts.implementation.isEmpty ? nil : string(parts.implementation),
      attributes: parts.attributes.isEmpty
        ? Attributes() : Attributes(checked: text.extracting(parts.attributes)),
      encoding: encoding,
      origin: Origin(
        image: image.path, section: section, named: section.name, index: tally.index,
        offset: offset))
  }

  private mutating func take(_ record: consuming Record, _ parts: EntryParts) {
    var size = parts.name.count + parts.implementation.count
    if case .imported(let symbol, _) = record.accessor?.target { size += symbol.utf8.count }
    tally.count(size + (record.accessor?.symbol?.utf8.count ?? 0))
    // A record is large: it is moved there.
    records.append(record)
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

/// The counts and refusals of a reader so far, and its current slot.
///
/// A section of eight-byte slots can point a million times at one long text, so what a reader keeps is bounded.
/// It counts and reports whatever it leaves out.
struct EntryTally {
  static let recordLimit = 1 << 18
  /// In bytes: more than all names have that an image declares, however large it is.
  private static let mostText = 64 << 20

  private let image: String
  private(set) var rejections: [Rejection] = []
  /// The kind that the slot declares, as far as it is known.
  var kind = RecordKind.unknown
  /// The slot that is being read, counted over all sections of its name.
  var index = 0
  private var sectionName = ""
  private var section: Section?
  private var recordCount = 0
  private var textSize = 0
  /// The most bytes of names and refused texts that are read. They may share their bytes, so the sections decide.
  private var textLimit = 0
  private var rejectedHere = 0
  private var unlisted = 0

  init(image: String) { self.image = image }

  /// Takes the size of all sections that will be read, in bytes.
  mutating func admit(_ size: UInt64) {
    textLimit = (1 << 18) + 8 * Int(min(size, UInt64(Self.mostText / 8)))
  }

  /// Starts over at slot 0, for the sections of one name.
  mutating func begin(sectionsNamed name: String, of kind: RecordKind) {
    sectionName = name
    self.kind = kind
    section = nil
    index = 0
    rejectedHere = 0
    unlisted = 0
  }

  mutating func begin(_ section: Section) { self.section = section }

  /// Says what was refused but not listed, once the sections of one name are read.
  mutating func endSections() {
    guard unlisted > 0 else { return }
    append(
      Refusal(
        .limitExceeded,
        "\(unlisted) more entries of \(sectionName) were refused; "
          + "the first \(Scan.mostRefused) are listed"), at: 0)
  }

  /// Counts an entry that was taken in, with the size of its names.
  mutating func count(_ size: Int) {
    recordCount += 1
    textSize += size
  }

  /// Room for another entry; where there is none, that was said and the caller stops.
  mutating func hasRoom(at offset: UInt64) -> Bool {
    if recordCount < Self.recordLimit, textSize < textLimit { return true }
    append(
      Refusal(
        .limitExceeded,
        "the image declares more than \(Self.recordLimit) entries or "
          + "\(textLimit >> 10) KiB of names and of texts that are refused; from this entry on nothing was read"
      ), at: offset)
    return false
  }

  mutating func reject(_ refusal: Refusal, at offset: UInt64, reading size: Int = 0) {
    textSize += size
    guard rejectedHere < Scan.mostRefused else {
      unlisted += 1
      return
    }
    rejectedHere += 1
    append(refusal, at: offset)
  }

  private mutating func append(_ refusal: Refusal, at offset: UInt64) {
    rejections.append(
      Rejection(
        reason: refusal.reason, kind: kind, name: refusal.name, message: refusal.message,
        origin: Origin(
          image: image, section: section, named: sectionName, index: index, offset: offset)))
  }
}

extension Refusal {
  /// A part of the file cannot be read, so no entry is at fault.
  fileprivate init(_ error: ImageError) { self.init(.unreadableSection, error.message) }

  /// A section that no process gets.
  fileprivate static func notMapped(inObject isObject: Bool) -> Refusal {
    let (cause, advice) =
      isObject
      ? ("flag E", "give the section the flags \"awR\", or declare them with BeeHive.h")
      : ("no memory at its address", "link them anew instead of adding the section to the file")
    return Refusal(
      .unreadableSection,
      "is not mapped (no flag A, or \(cause)), so no process has its entries; \(advice)")
  }
}

extension Origin {
  /// The place of an entry in a section; without one, in all of a name.
  init(image: String, section: Section?, named name: String, index: Int, offset: UInt64) {
    let base = section?.address ?? VirtualAddress(rawValue: 0)
    self.init(
      image: image, section: name, index: index,
      address: VirtualAddress(rawValue: base.rawValue &+ offset),
      offset: section?.offset.map { FileOffset(rawValue: $0.rawValue &+ offset) })
  }
}
