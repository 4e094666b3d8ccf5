internal import CElf

/// A file that claims to be the one a mapped image came from.
///
/// It may have been replaced or deleted since, or its path may lead elsewhere today. The headers
/// decide: the loader maps them, and two builds that share them share their section table too.
struct MappedFile {
  /// The sections of this package that are mapped and not empty: by name, then by address.
  let sections: [Section]
  private let header: [UInt8]
  private let programHeaders: [UInt8]
  private let id: [UInt8]

  /// Reads the file at `path`, which errors call `name`; its build-id only where that is wanted.
  init(path: String, name: String, withID: Bool) throws(ImageError) {
    let file = try OpenedFile(path: path, name: name, wasMapped: true)
    let header = try ELFHeader(of: file)
    sections = try Self.sections(of: file, header)
    self.header = try file.read(at: 0, count: header.bits == 64 ? 64 : 52)
    let size = header.bits == 64 ? 56 : 32
    let programHeaders = try file.read(
      at: header.segments.offset, count: Int(header.segments.count) * size)
    self.programHeaders = programHeaders
    id = withID ? try Self.buildID(of: file, header, programHeaders.span) : []
  }

  private static let names = SectionNote.names.map { Array($0.utf8) }

  private static func sections(
    of file: OpenedFile, _ header: ELFHeader
  ) throws(ImageError) -> [Section] {
    if header.sections.isComplete, header.sections.count > 0 {
      // Most files declare nothing, and their names alone say so; of the others the table says enough.
      let table = try ELFSectionTable(of: file, header)
      if let sections = sections(in: table) { return sections }
    }
    let image = try ELFFile(file)
    var sections: [Section] = []
    for name in SectionNote.names {
      sections += try image.sections(named: name).filter {
        isMapped($0.size, at: $0.address, isAllocated: $0.flags.contains("A"))
      }
      .sorted { $0.address < $1.address }
    }
    return sections
  }

  /// The sections as the table has them; nil where a name stands twice.
  private static func sections(in table: ELFSectionTable) -> [Section]? {
    var found = names.map { _ in 0 }
    var isUnique = true
    table.forEach(named: names) { index, name in
      isUnique = isUnique && found[name] == 0
      found[name] = index
    }
    guard isUnique else { return nil }
    return found.indices.compactMap { name in
      found[name] == 0 ? nil : section(found[name], name: SectionNote.names[name], in: table)
    }
  }

  /// A section as the table has it; nil where it is not mapped.
  private static func section(_ index: Int, name: String, in table: ELFSectionTable) -> Section? {
    let (address, size) = table.range(of: index)
    let section = Section(
      index: index, name: name, address: VirtualAddress(rawValue: address), offset: nil, size: size)
    let isAllocated = table.kind(of: index).flags & UInt64(SHF_ALLOC) != 0
    return isMapped(size, at: section.address, isAllocated: isAllocated) ? section : nil
  }

  /// Whether an image with these headers and this build-id was mapped from this file.
  ///
  /// `strip` may have been at work since: with a build-id, where the section table stands does not
  /// count. `header` is empty where no segment of the image holds it.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>, id: [UInt8]) -> Bool {
    guard programHeaders.equals(self.programHeaders.span), id == self.id else { return false }
    if header.isEmpty { return true }
    guard header.count == self.header.count else { return false }
    let ours = self.header.span
    if id.isEmpty { return header.equals(ours) }
    // e_shoff stands behind e_phoff; e_shentsize, e_shnum and e_shstrndx end the header.
    let word = header.count == 64 ? 8 : 4
    let start = 0..<24 + 2 * word
    let middle = start.upperBound + word..<header.count - 6
    return header.extracting(start).equals(ours.extracting(start))
      && header.extracting(middle).equals(ours.extracting(middle))
  }

  /// Whether the loader maps a section: not if it is empty or not allocated.
  private static func isMapped(
    _ size: UInt64, at address: VirtualAddress, isAllocated: Bool
  ) -> Bool {
    size > 0 && (address.rawValue != 0 || isAllocated)
  }

  /// The build-id among the note segments, where the loader would find it too.
  ///
  /// The identity of the file has it as well, and much else that has no say here.
  private static func buildID(
    of file: OpenedFile, _ header: ELFHeader, _ programHeaders: Span<UInt8>
  ) throws(ImageError) -> [UInt8] {
    let (bits, order) = (header.bits, header.order)
    let (size, offset, fileSize, align) = bits == 64 ? (56, 8, 32, 48) : (32, 4, 16, 28)
    for start in stride(from: 0, to: programHeaders.count, by: size) {
      func word(_ field: Int) -> UInt64 {
        programHeaders.word(at: start + field, bits: bits, order: order) ?? 0
      }
      guard programHeaders.integer(at: start, order: order) == UInt32(PT_NOTE) else { continue }
      // Longer notes than anybody writes hold no build-id.
      let count = Int(min(word(fileSize), 1 << 16))
      let bytes = try file.read(at: word(offset), count: count)
      let notes = ELFNote.notes(in: bytes.span, alignment: word(align), order: order)
      if let note = notes.first(where: \.isBuildID) { return Array(bytes[note.descriptor]) }
    }
    return []
  }
}
