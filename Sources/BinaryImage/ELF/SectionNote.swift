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

  /// The version of a descriptor of this project's: its first word, nil if it has none.
  static func version(of descriptor: Span<UInt8>, _ order: ImageIdentity.ByteOrder) -> UInt32? {
    descriptor.integer(at: 0, order: order)
  }

  /// The distance that a word of such a descriptor says; nil if the word is not there.
  package static func distance(
    at offset: Int, of descriptor: Span<UInt8>, _ order: ImageIdentity.ByteOrder
  ) -> UInt64? {
    descriptor.integer(at: offset, as: UInt32.self, order: order)
      .map { UInt64(bitPattern: Int64(Int32(bitPattern: $0))) }
  }

  /// Reads the descriptor at `address`; nil where it is of another version or size.
  ///
  /// A tool that moves the note, as patchelf does, leaves the distances as they were: `header`, where
  /// the image's header really is, tells by how much.
  private init?(
    descriptor: Span<UInt8>, at address: VirtualAddress, header: VirtualAddress?, bits: Int,
    order: ImageIdentity.ByteOrder
  ) {
    guard Self.version(of: descriptor, order) == Self.version,
      descriptor.count >= 36
    else { return nil }
    func target(_ offset: Int) -> UInt64 {
      let distance = Self.distance(at: offset, of: descriptor, order) ?? 0
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

  /// Reads the notes of an image whose header is at `header`; several must agree.
  /// `failure` makes the errors, of one that is not understood with its source.
  package static func read(
    _ notes: [ELFNote], header: VirtualAddress?, bits: Int, order: ImageIdentity.ByteOrder,
    failure: (ImageError.Code, String, UInt64?) -> ImageError
  ) throws(ImageError) -> SectionNote? {
    var found: SectionNote?
    for note in notes where note.owner == .beehive && note.type == Self.type {
      let stated = SectionNote(
        descriptor: note.descriptor.span, at: VirtualAddress(rawValue: note.address),
        header: header, bits: bits, order: order)
      guard let stated else {
        throw failure(
          .unsupported, "The note .note.beehive is of a version that this reader does not know.",
          note.source)
      }
      guard header != nil else {
        throw failure(
          .malformed, "No segment holds the ELF header that the note refers to.", nil)
      }
      guard found == nil || found == stated else {
        throw failure(.malformed, "Two notes .note.beehive contradict each other.", nil)
      }
      found = stated
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
