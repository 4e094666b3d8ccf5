/// The locations of an image's three sections, as the image itself states them in `.note.beehive`.
///
/// The loader maps the note and every strip tool leaves it, so an image without section headers still has it. Each
/// position is stored as a distance from its own field.
///
/// C: the descriptor of the note in `CSupport/RecordLayout.md`.
package struct SectionNote: Hashable {
  /// The first byte and the byte after the last of each section, in the order of `names`; equal if the image does not
  /// have the section. A corrupt note may have them in any order.
  private let bounds: [UInt64]
  /// Whether the image's header is at another address than it was linked for.
  private let isMoved: Bool

  /// The type of the note.
  package static let type: UInt32 = 0x4245_4501
  /// The version that this reader knows.
  package static let version: UInt32 = 1

  /// Returns the version of a descriptor of this project: its first word, nil if it has none.
  static func version(of descriptor: Span<UInt8>, _ order: ImageIdentity.ByteOrder) -> UInt32? {
    descriptor.integer(at: 0, order: order)
  }

  /// Returns the distance that a word of such a descriptor states; nil if the word is not there.
  package static func distance(
    at offset: Int, of descriptor: Span<UInt8>, _ order: ImageIdentity.ByteOrder
  ) -> UInt64? {
    descriptor.integer(at: offset, as: UInt32.self, order: order)
      .map { UInt64(bitPattern: Int64(Int32(bitPattern: $0))) }
  }

  /// Reads the descriptor at `address`; nil if it has another version or size.
  ///
  /// A tool that moves the note, as patchelf does, leaves the distances as they were. The real address of the image's
  /// header, `header`, tells by how much they are wrong.
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
    let mask: UInt64 = bits == 64 ? .max : 0xffff_ffff
    isMoved = moved & mask != 0
    bounds = stride(from: 12, to: 36, by: 4).map { (target($0) &+ moved) & mask }
  }

  /// Reads the notes of an image whose header is at `header`; several must agree. Tools move the header of a program
  /// that `isFixed` to one address, and the note of other images. `failure` makes the errors; that of an unknown
  /// version gets the note's source.
  package static func read(
    _ notes: [ELFNote], header: VirtualAddress?, isFixed: Bool, bits: Int,
    order: ImageIdentity.ByteOrder, failure: (ImageError.Code, String, UInt64?) -> ImageError
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
        throw failure(.malformed, "No segment holds the ELF header that the note refers to.", nil)
      }
      guard !isFixed || !stated.isMoved else {
        throw failure(
          .malformed,
          "The note .note.beehive or the ELF header was moved, and nothing tells which.", nil)
      }
      guard found == nil || found == stated else {
        throw failure(.malformed, "Two notes .note.beehive contradict each other.", nil)
      }
      found = stated
    }
    return found
  }

  /// Returns the sections that the note describes, in the order of `names`, without empty ones.
  ///
  /// - Parameters:
  ///   - file: The file; nil for a process.
  ///   - word: The size of a pointer in bytes.
  ///   - place: Returns the bytes of the file in a range of addresses; nil if no one segment has them all.
  ///   - failure: Makes the error of bounds that no linker sets.
  /// - Returns: The sections.
  /// - Throws: That error: then the section headers say where the entries are.
  package func sections(
    in file: OpenedFile?, word: Int, at place: (VirtualAddress, UInt64) -> FileExtent?,
    failure: (_ name: String, _ message: String) -> ImageError
  ) throws(ImageError) -> [Section] {
    var sections: [Section] = []
    for (index, name) in Self.names.enumerated() {
      let (start, stop) = (bounds[2 * index], bounds[2 * index + 1])
      guard start != stop else { continue }
      let address = VirtualAddress(rawValue: start)
      guard start < stop, start % 8 == 0, (stop - start) % UInt64(word) == 0,
        let stored = place(address, stop - start)
      else {
        throw failure(
          name,
          "The note .note.beehive says \(start.hexadecimal) to \(stop.hexadecimal), which is not aligned or not in "
            + "one segment.")
      }
      sections.append(
        Section(
          index: sections.count, name: name, address: address,
          offset: file?.offset(stored.offset), size: stop - start))
    }
    return sections
  }

  /// The names of the sections, in the order of reading.
  package static let names = ["BeehiveMods", "BeehiveServices", "BeehiveRecords"]
}
