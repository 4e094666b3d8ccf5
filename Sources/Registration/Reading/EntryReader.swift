internal import BinaryImage

/// The most entries that are read from an image.
private let mostRecords = 1 << 18
/// In bytes: more than the names of any image have, however large it is.
private let mostText: UInt64 = 64 << 20

/// Reads the entries of an image, with one grammar and one rulebook for files and for memory.
///
/// A refused entry never hides its neighbours. A section whose bytes cannot be read is one rejection and
/// hides no other section.
///
/// A million slots of eight bytes can point at one long text. So the reader keeps a bounded number of bytes, and
/// reports how much it leaves out.
struct EntryReader<Source: Image> {
  private let image: Source
  private(set) var scan = Scan()
  /// Made once, at the first record in C.
  private lazy var memory = image.addressedMemory
  /// The first record of each shared instance.
  private var sharers: [String: Record] = [:]
  /// The record with the image's identity as a plugin.
  private var identity: Record?

  /// The kind that the slot declares, if it is known.
  private var kind = RecordKind.unknown
  /// The number of the slot that is being read, counted over all sections of its name.
  private var index = 0
  private var textSize = 0
  /// The most bytes of names and refused texts to read. Texts may share bytes, so the sizes of the sections decide.
  private var textLimit = 0
  /// The refusals of the sections of one name: those that are listed, and further ones.
  private var (listed, unlisted) = (0, 0)

  init(_ image: Source) { self.image = image }

  /// Reads the sections of the three names. Throws if sections cannot be looked for.
  mutating func read() throws(ImageError) {
    let found = try Scan.sections.map { name, kind throws(ImageError) in
      (name: name, kind: kind, sections: try image.sections(named: name))
    }
    let sizes = found.flatMap { $0.sections.map(\.size) }
    // Most files of a system have no entries, so nothing more is read of them.
    guard let most = sizes.max() else { return }
    scan.records.reserveCapacity(Int(min(most / 8, 16)))
    let size = sizes.reduce(UInt64(0)) { $0.saturating(adding: $1) }
    textLimit = (1 << 18) + Int(min(size, mostText / 8)) * 8
    for (name, kind, sections) in found {
      (self.kind, index, listed, unlisted) = (kind, 0, 0, 0)
      for section in sections {
        if !section.isMapped {
          reject(.notMapped(inObject: image.identity.kind == .object), at: 0, in: section)
        } else if kind == .unknown {
          readRecords(section)
        } else {
          readPointers(section)
        }
      }
      guard unlisted > 0, let last = sections.last else { continue }
      append(
        Refusal(
          .limitExceeded,
          "\(unlisted) more entries of \(name) were refused; "
            + "the first \(Scan.mostRefused) are listed"), at: 0, in: last)
    }
  }

  // MARK: Pointer sections

  private mutating func readPointers(_ section: Section) {
    let slotSize = UInt64(image.pointerSize)
    var end: UInt64 = 0
    do throws(ImageError) {
      let size = try image.forEachSlot(of: section, limit: PointerGrammar.limit) {
        offset, slot, text in
        guard hasRoom(at: offset, in: section) else { return false }
        end = offset + slotSize
        if let text, case .pointer(let pointer) = slot {
          readPointer(text, pointer, at: offset, in: section)
        } else if let refusal = Self.refusal(of: slot, at: offset) {
          let size = refusal.reason == .unterminatedText ? PointerGrammar.limit : 0
          reject(refusal, at: offset, in: section, reading: size)
        }
        index += 1
        return true
      }
      // If the reading stopped early, the reason was reported already.
      guard size - end < slotSize, size > end else { return }
      reject(
        Refusal(
          .oddSectionSize,
          "\(Int(size - end).counted("byte")) left behind the last whole pointer of \(slotSize); "
            + "an entry in this section is no const char *"), at: end, in: section)
      index += 1
    } catch {
      reject(Refusal(error), at: 0, in: section)
    }
  }

  private mutating func readPointer(
    _ text: Span<UInt8>, _ pointer: PointerValue, at offset: UInt64, in section: Section
  ) {
    do throws(Refusal) {
      let (name, implementation) = try PointerGrammar.names(in: text, kind: kind)
      var record = Record(
        kind: kind, name: name, implementation: implementation, encoding: .pointer,
        origin: origin(at: offset, in: section))
      record.resolution = pointer.resolution
      if case .address(let address) = pointer.target { record.textAddress = address }
      take(consume record)
    } catch {
      reject(error, at: offset, in: section, reading: text.count)
    }
  }

  /// Returns the reason that a slot leads to no text; nil if it is padding.
  private static func refusal(of slot: SlotContents, at offset: UInt64) -> Refusal? {
    let pointer: PointerValue
    switch slot {
    case .pointer(let found): pointer = found
    case .unread(let pointer, let error): return refusal(of: error, pointer)
    case .unresolved(let error): return Refusal(error)
    }
    switch pointer.target {
    // The text of these was read.
    case .address, .section: return nil
    // Every entry is aligned to 8 bytes, so four bytes of padding follow a pointer of four.
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
    case .unresolvable(let why):
      let advice = pointer.resolution == .number ? "; point it at a text of the same image" : ""
      return Refusal(.unresolvedPointer, why + advice)
    }
  }

  /// Returns the reason that the text at a pointer cannot be read.
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
    let grammar = RecordGrammar(order: image.identity.byteOrder)
    do throws(ImageError) {
      try image.withBytes(of: section) { bytes in
        var start = 0
        while start < bytes.count {
          let offset = UInt64(start)
          guard hasRoom(at: offset, in: section) else { return }
          kind = grammar.kind(at: start, in: bytes)
          do throws(Refusal) {
            // If the loader changes the size, it moves all records after this one.
            try checkKept(offset..<min(offset + 8, UInt64(bytes.count)), in: section)
            guard let record = try grammar.extent(at: start, in: bytes) else { return }
            start = record.upperBound
            guard record.count >= RecordGrammar.headSize else { continue }
            readRecord(record, of: bytes, grammar, in: section)
          } catch {
            reject(error, at: offset, in: section)
            index += 1
            return
          }
          index += 1
        }
      }
    } catch {
      reject(Refusal(error), at: 0, in: section)
    }
  }

  private mutating func readRecord(
    _ range: Range<Int>, of sectionBytes: Span<UInt8>, _ grammar: RecordGrammar, in section: Section
  ) {
    let (bytes, offset) = (sectionBytes.extracting(range), UInt64(range.lowerBound))
    var known: String?
    do throws(Refusal) {
      let (name, end) = try grammar.name(of: bytes, kind: kind)
      known = name
      let (implementation, attributes) = try grammar.implementation(of: bytes, behind: end)
      let accessor = offset + UInt64(RecordGrammar.accessorOffset)
      let context = offset + UInt64(RecordGrammar.contextOffset)
      try checkKept(offset..<offset + UInt64(range.count), in: section, except: (accessor, context))
      var record = Record(
        kind: kind, name: name, implementation: implementation,
        attributes: try Attributes(bytes.extracting(attributes), of: kind), encoding: .inline,
        origin: origin(at: offset, in: section))
      try record.attributes.checkRouting(of: kind, named: name)
      if kind == .plugin { try takeIdentity(record) }
      record.accessor = try pointer(at: accessor, of: sectionBytes, in: section)
      record.context = try pointer(at: context, of: sectionBytes, in: section)
      try record.checkStructure(in: memory)
      if let instance = record.sharedInstance {
        let first = sharers[instance] ?? record
        try record.checkSharing(with: first, in: memory)
        sharers[instance] = first
      }
      take(record)
    } catch {
      reject(error, of: known, at: offset, in: section)
    }
  }

  /// Notes the identity of the image; throws if there is a second one.
  private mutating func takeIdentity(_ record: Record) throws(Refusal) {
    try record.attributes.checkIdentity(named: record.name)
    if let identity {
      throw Refusal(
        .badIdentity,
        "is the second identity of its image, after \(identity.name) (\(identity.origin)); keep one"
      )
    }
    identity = record
  }

  /// Throws if the loader writes over these bytes of a section, apart from the two words.
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

  // MARK: What is kept

  private mutating func take(_ record: consuming Record) {
    textSize += record.name.utf8.count + (record.implementation?.utf8.count ?? 0)
    if case .imported(let symbol, _) = record.accessor?.target { textSize += symbol.utf8.count }
    textSize += record.accessor?.symbol?.utf8.count ?? 0
    // Records are large, so this one is moved.
    scan.records.append(record)
  }

  /// Returns whether there is room for another entry. If not, it reports that, and the caller stops.
  private mutating func hasRoom(at offset: UInt64, in section: Section) -> Bool {
    if scan.records.count < mostRecords, textSize < textLimit { return true }
    append(
      Refusal(
        .limitExceeded,
        "the image declares more than \(mostRecords) entries or "
          + "\(textLimit >> 10) KiB of names and of texts that are refused; from this entry on nothing was read"
      ), at: offset, in: section)
    return false
  }

  private mutating func reject(
    _ refusal: Refusal, of name: String? = nil, at offset: UInt64, in section: Section,
    reading size: Int = 0
  ) {
    textSize += size
    guard listed < Scan.mostRefused else {
      unlisted += 1
      return
    }
    listed += 1
    append(refusal, of: name, at: offset, in: section)
  }

  private mutating func append(
    _ refusal: Refusal, of name: String? = nil, at offset: UInt64, in section: Section
  ) {
    scan.rejections.append(
      Rejection(
        reason: refusal.reason, kind: kind, name: name, message: refusal.message,
        origin: origin(at: offset, in: section)))
  }

  /// Returns the location of the slot.
  private func origin(at offset: UInt64, in section: Section) -> Origin {
    Origin(
      image: image.path, section: section.name, index: index,
      address: VirtualAddress(rawValue: section.address.rawValue &+ offset),
      offset: section.offset.map { FileOffset(rawValue: $0.rawValue &+ offset) })
  }
}

extension Refusal {
  /// Describes a part of the file that cannot be read; no entry is at fault.
  fileprivate init(_ error: ImageError) { self.init(.unreadableSection, error.message) }

  /// Describes a section that is not mapped into a process.
  fileprivate static func notMapped(inObject isObject: Bool) -> Refusal {
    let (cause, advice) =
      isObject
      ? ("flag E", "give the section the flags \"awR\", or declare them with BeeHive.h")
      : ("no memory at its address", "link them anew instead of adding the section to the file")
    return Refusal(
      .unreadableSection,
      "the section is not mapped (no flag A, or \(cause)), so no process has its entries; \(advice)"
    )
  }
}
