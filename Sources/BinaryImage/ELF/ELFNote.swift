internal import CElf

/// One note of a `PT_NOTE` or `SHT_NOTE`: who wrote it, what it is, and its descriptor.
///
/// ELF: `gelf_getnote`.
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

  /// `NT_GNU_BUILD_ID`.
  package var isBuildID: Bool { owner == .gnu && type == UInt32(NT_GNU_BUILD_ID) }

  /// The notes in `bytes`, up to the first that does not fit.
  ///
  /// Linkers gather notes of 4 and of 8 bytes' alignment in segments of their own, but mold puts
  /// both into one of 8: there a note may begin at any multiple of 4, and those of an owner that this
  /// reader knows are picked out, each up to its end.
  ///
  /// - Throws: The error of `refusal` if libelf does not open a copy of the bytes.
  package static func notes(
    in bytes: ArraySlice<UInt8>, alignment: UInt64, order: ImageIdentity.ByteOrder,
    refusal: (String) -> ImageError
  ) throws(ImageError) -> [ELFNote] {
    var (notes, position, resumptions): ([ELFNote], Int, Int) = ([], 0, 0)
    let format = ELFFormat(bits: 64, order: order, machine: UInt16(EM_NONE))
    while position + headSize <= bytes.count, resumptions < mostResumptions {
      let rest = bytes.dropFirst(position)
      let capsule = try unsafe ELFDescriptor(format, count: rest.count, refusal) {
        unsafe $0.copyBytes(from: rest)
      }
      let end = read(capsule, rest.span, isMixed: alignment >= 8) { note in
        notes.append(note.moved(by: position))
      }
      // What libelf has not swapped it cannot read on, so the rest is another capsule.
      guard alignment >= 8, let next = next(in: bytes.span, from: position + end + 4) else { break }
      (position, resumptions) = (next, resumptions + 1)
    }
    return notes
  }

  /// The size of a note before its name, in bytes.
  private static let headSize = MemoryLayout<GElf_Nhdr>.size
  /// More notes of known owners than any linker mixes with others.
  private static let mostResumptions = 64

  /// Reads notes one after the other; returns where the first begins that does not fit, or in a mixed segment the
  /// first of an unknown owner.
  private static func read(
    _ capsule: borrowing ELFDescriptor, _ bytes: Span<UInt8>, isMixed: Bool,
    _ body: (ELFNote) -> Void
  ) -> Int {
    guard let data = unsafe capsule.data(ELF_T_NHDR) else { return 0 }
    var (position, head, name, descriptor) = (0, GElf_Nhdr(), 0, 0)
    while true {
      let next = unsafe gelf_getnote(data, position, &head, &name, &descriptor)
      guard next > position, next <= (bytes.count + 3) & ~3 else { return position }
      let owner = Owner(named: bytes, at: name, size: Int(head.n_namesz))
      if isMixed, owner == nil { return position }
      let end = descriptor + Int(head.n_descsz)
      guard end <= bytes.count else { return position }
      body(ELFNote(owner: owner, type: head.n_type, descriptor: descriptor..<end))
      position = next
    }
  }

  /// The first multiple of 4 where a note of a known owner may begin; nil if there is none.
  private static func next(in bytes: Span<UInt8>, from start: Int) -> Int? {
    var position = start
    while position + headSize < bytes.count {
      for owner in Owner.allCases
      where bytes.holds(owner.rawValue.utf8Span.span, at: position + headSize) { return position }
      position += 4
    }
    return nil
  }

  private func moved(by distance: Int) -> ELFNote {
    var note = self
    note.descriptor = descriptor.lowerBound + distance..<descriptor.upperBound + distance
    return note
  }
}

extension ELFNote.Owner {
  /// The owner of a note whose name has so many bytes by its head.
  fileprivate init?(named bytes: Span<UInt8>, at name: Int, size: Int) {
    // No owner that matters is longer.
    let end = min(name + min(size, 15), bytes.count)
    guard name < end else { return nil }
    let text = bytes.extracting(name..<end)
    self.init(text.extracting(0..<(text.textLength(from: 0) ?? text.count)))
  }
}
