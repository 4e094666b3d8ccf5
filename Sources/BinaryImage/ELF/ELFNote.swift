/// One note of a `PT_NOTE` or `SHT_NOTE`: who wrote it, what it is, and its descriptor.
package struct ELFNote {
  /// Who may have written a note that matters here.
  package enum Owner {
    case gnu
    case beehive
    case core
    case other
  }

  /// What the name says.
  package var owner: Owner
  /// `n_type`, a number of the owner's.
  package var type: UInt32
  /// Where the descriptor stands among the bytes.
  package var descriptor: Range<Int>

  /// The notes that stand in `bytes`, up to the first that does not fit.
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

  /// Where the descriptor of the first `NT_GNU_BUILD_ID` stands among the bytes.
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
        alignment < 8 || note.owner != .other
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
    let owner = bytes.extracting(name..<name + min(Int(nameSize), 64))
    let text = owner.extracting(0..<(owner.textLength(from: 0) ?? owner.count))
    return ELFNote(owner: self.owner(called: text), type: type, descriptor: start..<end)
  }

  private static func owner(called name: Span<UInt8>) -> Owner {
    // By its length first: a walk asks that of every note.
    switch name.count {
    case 3: name.equals(gnu.span) ? .gnu : .other
    case 4: name.equals(core.span) ? .core : .other
    case SectionNote.owner.count: name.equals(SectionNote.owner.span) ? .beehive : .other
    default: .other
    }
  }

  private static let gnu = Array("GNU".utf8)
  private static let core = Array("CORE".utf8)

  private static func aligned(_ offset: Int) -> Int { (offset + 3) & ~3 }

  /// `NT_GNU_BUILD_ID`.
  package var isBuildID: Bool { owner == .gnu && type == 3 }
}

/// Where an image's three sections stand, as the image itself says in `.note.beehive`.
///
/// The loader maps the note and every strip tool leaves it, so an image without section headers
/// still tells. Each position is stored as a distance from its own field.
///
/// C: the descriptor of the note in `CSupport/RecordLayout.md`.
package struct SectionNote: Hashable {
  /// The ELF header, `__ehdr_start`.
  package var imageHeader: VirtualAddress
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

  /// The owner of the note.
  package static let owner = Array("Beehive".utf8)
  /// The type of the note.
  package static let type: UInt32 = 0x4245_4501
  /// The version that this reader knows.
  package static let version: UInt32 = 1

  /// Reads the descriptor that stands at `address`; nil where it is of another version or size.
  package init?(
    descriptor: Span<UInt8>, at address: VirtualAddress, bits: Int, order: ImageIdentity.ByteOrder
  ) {
    guard descriptor.integer(at: 0, as: UInt32.self, order: order) == Self.version,
      descriptor.count >= 36
    else { return nil }
    func target(_ offset: Int) -> VirtualAddress {
      let stored: UInt32 = descriptor.integer(at: offset, order: order) ?? 0
      let distance = UInt64(bitPattern: Int64(Int32(bitPattern: stored)))
      let sum = address.rawValue &+ UInt64(offset) &+ distance
      return VirtualAddress(rawValue: bits == 64 ? sum : sum & 0xffff_ffff)
    }
    imageHeader = target(8)
    modules = Extent(start: target(12), stop: target(16))
    services = Extent(start: target(20), stop: target(24))
    records = Extent(start: target(28), stop: target(32))
  }

  /// The extents as they are if the image's header stands at `actual`.
  ///
  /// A tool that moves the note, as patchelf does, leaves the distances as they were.
  package func corrected(for actual: VirtualAddress, bits: Int) -> SectionNote {
    let delta = actual.rawValue &- imageHeader.rawValue
    func moved(_ address: VirtualAddress) -> VirtualAddress {
      let sum = address.rawValue &+ delta
      return VirtualAddress(rawValue: bits == 64 ? sum : sum & 0xffff_ffff)
    }
    func moved(_ extent: Extent) -> Extent {
      Extent(start: moved(extent.start), stop: moved(extent.stop))
    }
    var note = self
    note.imageHeader = actual
    note.modules = moved(modules)
    note.services = moved(services)
    note.records = moved(records)
    return note
  }

  /// The extents by the names of the sections, in the order in which records are read.
  package var sections: [(name: String, extent: Extent)] {
    Array(zip(Self.names, [modules, services, records]))
  }

  /// The names of the sections, in the order in which records are read.
  package static let names = ["BeehiveMods", "BeehiveServices", "BeehiveRecords"]
}
