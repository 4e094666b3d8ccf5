/// One note of a `PT_NOTE` or `SHT_NOTE`: who wrote it, what it is, and its descriptor.
package struct ELFNote {
  /// Who may have written a note that matters here.
  package enum Owner: String, CaseIterable {
    case gnu = "GNU"
    case beehive = "Beehive"
    case core = "CORE"

    /// The owner of this name, which is compared where it is.
    fileprivate init?(_ name: Span<UInt8>) {
      for owner in Self.allCases where name.equals(owner.rawValue.utf8Span.span) {
        self = owner
        return
      }
      return nil
    }
  }

  /// What the name says; nil for any other.
  package var owner: Owner?
  /// `n_type`, a number of the owner's.
  package var type: UInt32
  /// Where the descriptor is among the bytes.
  package var descriptor: Range<Int>

  /// The notes in `bytes`, up to the first that does not fit.
  ///
  /// Linkers gather notes of 4 and of 8 bytes' alignment in segments of their own, but mold puts
  /// both into one of 8: there a note may begin at any multiple of 4, and those of an owner that this
  /// reader knows are picked out, each up to its end.
  package static func notes(
    in bytes: Span<UInt8>, alignment: UInt64, order: ImageIdentity.ByteOrder
  ) -> [ELFNote] {
    var notes: [ELFNote] = []
    forEach(in: bytes, alignment: alignment, order: order) { note in
      notes.append(note)
      return true
    }
    return notes
  }

  /// Where the descriptor of the first `NT_GNU_BUILD_ID` is among the bytes.
  package static func buildID(
    in bytes: Span<UInt8>, alignment: UInt64, order: ImageIdentity.ByteOrder
  ) -> Range<Int>? {
    var found: Range<Int>?
    forEach(in: bytes, alignment: alignment, order: order) { note in
      if note.isBuildID { found = note.descriptor }
      return found == nil
    }
    return found
  }

  /// Hands out one note after the other, as long as `body` wants more.
  private static func forEach(
    in bytes: Span<UInt8>, alignment: UInt64, order: ImageIdentity.ByteOrder,
    _ body: (ELFNote) -> Bool
  ) {
    var position = 0
    while position + 12 <= bytes.count {
      if let note = note(at: position, in: bytes, order: order),
        alignment < 8 || note.owner != nil
      {
        guard body(note) else { return }
        position = aligned(note.descriptor.upperBound)
      } else {
        guard alignment >= 8 else { return }
        position += 4
      }
    }
  }

  private static func note(
    at position: Int, in bytes: Span<UInt8>, order: ImageIdentity.ByteOrder
  ) -> ELFNote? {
    guard let nameSize: UInt32 = bytes.integer(at: position, order: order),
      let size: UInt32 = bytes.integer(at: position + 4, order: order),
      let type: UInt32 = bytes.integer(at: position + 8, order: order)
    else { return nil }
    let name = position + 12
    let start = aligned(name + Int(nameSize))
    let end = start + Int(size)
    guard end <= bytes.count else { return nil }
    // No owner that matters is longer; a hostile one should not be searched at every position.
    let owner = bytes.extracting(name..<name + min(Int(nameSize), 15))
    let text = owner.extracting(0..<(owner.textLength(from: 0) ?? owner.count))
    return ELFNote(owner: Owner(text), type: type, descriptor: start..<end)
  }

  private static func aligned(_ offset: Int) -> Int { (offset + 3) & ~3 }

  /// `NT_GNU_BUILD_ID`.
  package var isBuildID: Bool { owner == .gnu && type == 3 }
}

/// Where an image's three sections are, as the image itself says in `.note.beehive`.
///
/// The loader maps the note and every strip tool leaves it, so an image without section headers
/// still tells. Each position is stored as a distance from its own field.
///
/// C: the descriptor of the note in `CSupport/RecordLayout.md`.
package struct SectionNote: Hashable {
  /// Where `BeehiveMods` starts and stops; the same where the image has none.
  package var modules: Extent
  /// Where `BeehiveServices` starts and stops.
  package var services: Extent
  /// Where `BeehiveRecords` starts and stops.
  package var records: Extent

  /// Two linked addresses; a corrupt note may have them in any order.
  package struct Extent: Hashable {
    /// The first byte.
    package var start: VirtualAddress
    /// The byte after the last.
    package var stop: VirtualAddress
  }

  /// The type of the note.
  package static let type: UInt32 = 0x4245_4501
  /// The version that this reader knows.
  package static let version: UInt32 = 1

  /// Reads the descriptor at `address`; nil where it is of another version or size.
  ///
  /// A tool that moves the note, as patchelf does, leaves the distances as they were: `header`, where
  /// the image's header really is, tells by how much.
  private init?(
    descriptor: Span<UInt8>, at address: VirtualAddress, header: VirtualAddress?, bits: Int,
    order: ImageIdentity.ByteOrder
  ) {
    guard descriptor.integer(at: 0, as: UInt32.self, order: order) == Self.version,
      descriptor.count >= 36
    else { return nil }
    func target(_ offset: Int) -> UInt64 {
      let stored: UInt32 = descriptor.integer(at: offset, order: order) ?? 0
      let distance = UInt64(bitPattern: Int64(Int32(bitPattern: stored)))
      return address.rawValue &+ UInt64(offset) &+ distance
    }
    let moved = header.map { $0.rawValue &- target(8) } ?? 0
    func extent(_ offset: Int) -> Extent {
      let (start, stop) = (target(offset) &+ moved, target(offset + 4) &+ moved)
      let mask = bits == 64 ? UInt64.max : 0xffff_ffff
      return Extent(
        start: VirtualAddress(rawValue: start & mask), stop: VirtualAddress(rawValue: stop & mask))
    }
    (modules, services, records) = (extent(12), extent(20), extent(28))
  }

  /// What the note segments of an image say, whose header is at `header`; several must agree.
  /// `failure` makes the errors.
  package static func read(
    _ notes: [(bytes: ArraySlice<UInt8>, segment: ELFSegment)], header: VirtualAddress?, bits: Int,
    order: ImageIdentity.ByteOrder,
    failure: (ImageError.Code, String, ELFSegment) -> ImageError
  ) throws(ImageError) -> SectionNote? {
    var found: SectionNote?
    for (bytes, segment) in notes {
      for note in ELFNote.notes(in: bytes.span, alignment: segment.alignment, order: order)
      where note.owner == .beehive && note.type == Self.type {
        let start = VirtualAddress(rawValue: segment.address)
          .advanced(by: UInt64(note.descriptor.lowerBound))
        guard let start,
          let stated = SectionNote(
            descriptor: bytes.span.extracting(note.descriptor), at: start, header: header,
            bits: bits, order: order)
        else {
          throw failure(
            .unsupported, "The note .note.beehive is of a version that this reader does not know.",
            segment)
        }
        guard header != nil else {
          throw failure(
            .malformed, "No segment holds the ELF header that the note refers to.", segment)
        }
        guard found == nil || found == stated else {
          throw failure(.malformed, "Two notes .note.beehive contradict each other.", segment)
        }
        found = stated
      }
    }
    return found
  }

  /// The sections that it tells of, in the order in which records are read, those without bytes left out.
  /// `place` answers where in a file one is, and throws where the image has nothing.
  package func sections(
    at place: (_ name: String, Extent) throws(ImageError) -> FileOffset?
  ) throws(ImageError) -> [Section] {
    var sections: [Section] = []
    for (name, extent) in zip(Self.names, [modules, services, records])
    where extent.start != extent.stop {
      let offset = try place(name, extent)
      sections.append(
        Section(
          index: sections.count, name: name, address: extent.start, offset: offset,
          size: extent.stop.rawValue - extent.start.rawValue))
    }
    return sections
  }

  /// The names of the sections, in the order in which records are read.
  package static let names = ["BeehiveMods", "BeehiveServices", "BeehiveRecords"]
}
