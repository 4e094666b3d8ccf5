internal import CElf

/// One note of a `PT_NOTE` or `SHT_NOTE`: its owner, its type and its descriptor.
///
/// libelf reads the note, but has no call for the contents of the descriptor.
///
/// ELF: `gelf_getnote`.
package struct ELFNote {
  /// The owners of notes that matter here.
  package enum Owner: String, CaseIterable {
    case gnu = "GNU"
    case beehive = "Beehive"
    case core = "CORE"

    /// Finds the owner of a note by its name, compared in place; nil if it does not matter here.
    fileprivate init?(named bytes: Span<UInt8>, at name: Int, size: Int) {
      // No owner that matters is longer.
      let end = min(name + min(size, 15), bytes.count)
      guard name < end else { return nil }
      let field = bytes.extracting(name..<end)
      let text = field.extracting(0..<(field.textLength(from: 0) ?? field.count))
      for owner in Self.allCases where text.equals(owner.rawValue.utf8Span.span) {
        self = owner
        return
      }
      return nil
    }
  }

  /// The owner that the name means; nil for all others.
  package var owner: Owner?
  /// `n_type`, a number that the owner defines.
  package var type: UInt32
  /// The bytes of the descriptor.
  package var descriptor: ArraySlice<UInt8>
  /// The linked address of the descriptor, and the offset in the file where its row of notes begins.
  package var address: UInt64, source: UInt64

  /// `NT_GNU_BUILD_ID`.
  package var isBuildID: Bool { owner == .gnu && type == UInt32(NT_GNU_BUILD_ID) }

  /// Returns the notes in `bytes`, up to the first that does not fit.
  ///
  /// Linkers put notes with 4 and with 8 bytes' alignment into separate segments, but mold puts both into one of 8.
  /// There a note may begin at any multiple of 4, and only the notes of known owners are read.
  ///
  /// - Throws: The error of `refusal` if libelf does not open a copy of the bytes.
  package static func notes(
    in bytes: ArraySlice<UInt8>, alignment: UInt64, order: ImageIdentity.ByteOrder,
    at address: UInt64, from source: UInt64 = 0, refusal: (String) -> ImageError
  ) throws(ImageError) -> [ELFNote] {
    var (notes, position, resumptions): ([ELFNote], Int, Int) = ([], 0, 0)
    let format = ELFFormat(bits: 64, order: order, machine: UInt16(EM_NONE))
    while position + headSize <= bytes.count, resumptions < mostResumptions {
      let rest = bytes.dropFirst(position)
      let capsule = try unsafe ELFDescriptor(format, count: rest.count, refusal) {
        unsafe $0.copyBytes(from: rest)
      }
      let end = read(capsule, rest.span, isMixed: alignment >= 8) { owner, type, range in
        let start = rest.startIndex + range.lowerBound
        notes.append(
          ELFNote(
            owner: owner, type: type, descriptor: rest[start..<start + range.count],
            address: address &+ UInt64(position + range.lowerBound), source: source))
      }
      // libelf cannot go on in bytes that it has not swapped, so the rest is another capsule.
      guard alignment >= 8, let next = next(in: bytes.span, from: position + end + 4) else { break }
      (position, resumptions) = (next, resumptions + 1)
    }
    return notes
  }

  /// The size of a note before its name, in bytes.
  private static let headSize = MemoryLayout<GElf_Nhdr>.size
  /// More notes of known owners than any linker mixes with others.
  private static let mostResumptions = 64

  /// Reads notes one after the other. Returns the start of the first note that does not fit, or in a mixed segment of
  /// the first note of an unknown owner.
  private static func read(
    _ capsule: borrowing ELFDescriptor, _ bytes: Span<UInt8>, isMixed: Bool,
    _ body: (Owner?, UInt32, Range<Int>) -> Void
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
      body(owner, head.n_type, descriptor..<end)
      position = next
    }
  }

  /// Returns the first multiple of 4 where a note of a known owner may begin; nil if there is none.
  private static func next(in bytes: Span<UInt8>, from start: Int) -> Int? {
    var position = start
    while position + headSize < bytes.count {
      for owner in Owner.allCases
      where bytes.holds(owner.rawValue.utf8Span.span, at: position + headSize) { return position }
      position += 4
    }
    return nil
  }
}

// MARK: - The notes of a file

extension ELFFile {
  /// Returns the error of notes that libelf does not open.
  package func noteRefusal(_ reason: String) -> ImageError {
    file.error(.malformed, "libelf does not read the notes: \(reason).")
  }

  /// Returns the notes of all note segments, in table order.
  func loadedNotes() throws(ImageError) -> [ELFNote] {
    var notes: [ELFNote] = []
    for segment in try segments().notes { notes += try self.notes(of: segment) }
    return notes
  }

  /// Returns the notes of a segment.
  func notes(of segment: GElf_Phdr) throws(ImageError) -> [ELFNote] {
    try notes(in: segment.extent, alignment: segment.p_align, at: segment.p_vaddr)
  }

  /// Returns the notes of a segment or section, which are read once.
  func notes(
    in extent: FileExtent, alignment: UInt64, at address: UInt64
  ) throws(ImageError) -> [ELFNote] {
    let place = [extent.offset, extent.size, alignment, address]
    if let known = knownNotes[place] { return known }
    try guardian.admit(notes: extent)
    let notes = try ELFNote.notes(
      in: file.slice(at: extent.offset, count: Int(extent.size)), alignment: alignment,
      order: header.order, at: address, from: extent.offset, refusal: noteRefusal)
    knownNotes[place] = notes
    return notes
  }

  /// Returns the contents of the note, wherever it is; nil if there is no such note.
  func sectionNote() throws(ImageError) -> SectionNote? {
    try SectionNote.read(
      loadedNotes(), header: segments().headerAddress, isFixed: header.type == UInt16(ET_EXEC),
      bits: header.bits, order: header.order
    ) { file.error($0, $1, at: $2) }
  }

  /// Returns the sections that the note describes, without empty ones; nil if there is no note.
  func readNotedSections() throws(ImageError) -> [Section]? {
    let segments = try segments()
    return try sectionNote()?.sections(in: file, word: header.wordSize, at: segments.extent) {
      file.error(.malformed, $1, section: $0)
    }
  }

  /// The reason to use the section table instead of the note that locates the entries; nil if the note is fine, or if
  /// there is none.
  package var noteProblem: ImageError? {
    guard hasSectionTable else { return nil }
    do throws(ImageError) { _ = try notedSections() } catch { return error }
    return nil
  }

  /// Returns the level of x86-64 that a segment of properties requires; 0 for any: `GNU_PROPERTY_X86_ISA_1_NEEDED`.
  func processorLevel(in segment: GElf_Phdr) throws(ImageError) -> Int {
    var level = 0
    for note in try notes(of: segment)
    where note.owner == .gnu && note.type == UInt32(NT_GNU_PROPERTY_TYPE_0) {
      func number(_ place: Int) -> UInt32? {
        note.descriptor.span.integer(at: place, order: header.order)
      }
      // Each property has a type, a size and a value, padded to a word.
      var place = 0
      while let type = number(place), let size = number(place + 4), let value = number(place + 8) {
        // Each level has a bit; the highest counts.
        if type == UInt32(GNU_PROPERTY_X86_ISA_1_NEEDED) { level = 32 - value.leadingZeroBitCount }
        place += 8 + (Int(size) + header.wordSize - 1) / header.wordSize * header.wordSize
      }
    }
    return level
  }
}
