internal import CElf

/// The range of the process that a section of this project occupies, not empty.
struct MappedSection {
  /// The name's place in `SectionNote.names`.
  let kind: Int
  let start: UInt
  let stop: UInt

  var name: String { SectionNote.names[kind] }
  /// Whether its words lead to text: typed records do not.
  var holdsPointers: Bool { kind != 2 }
}

/// A file that claims to be the one a mapped image came from: what was read of it, it is not open.
///
/// It may have been replaced or deleted since, or its path may lead elsewhere today. The headers
/// decide: the loader maps them, and two builds that share them share their section table too.
struct MappedFile {
  /// By name, in the order of `SectionNote.names`, then by address; whether the image maps them, the
  /// copy tells.
  let sections: [MappedSection]
  private let header: ArraySlice<UInt8>
  private let programHeaders: ArraySlice<UInt8>
  /// The build-id that the file must have, and whether it does.
  private let id: (isWanted: Bool, isThere: Bool)

  /// Reads the file at `path`, which should be that of `mapped`.
  init(path: String, of mapped: MappedImage) throws(ImageError) {
    let name = ImagePaths.displayName(of: mapped)
    let file = try OpenedFile(path: path, name: name, wasMapped: true)
    let header = try ELFHeader(of: file)
    sections = try Self.sections(of: file, header, at: mapped.bias)
    self.header = try file.slice(at: 0, count: header.bits == 64 ? 64 : 52)
    let size = header.bits == 64 ? 56 : 32
    let programHeaders = try file.slice(
      at: header.segments.offset, count: Int(header.segments.count) * size)
    self.programHeaders = programHeaders
    let id = mapped.buildID
    guard !id.isEmpty else {
      self.id = (isWanted: false, isThere: true)
      return
    }
    self.id = (isWanted: true, isThere: try Self.hasID(id, file, header, programHeaders.span))
  }

  private static func sections(
    of file: OpenedFile, _ header: ELFHeader, at bias: LoadBias
  ) throws(ImageError) -> [MappedSection] {
    if header.sections.isComplete, header.sections.count > 0 {
      // Most files declare nothing, and their names alone say so; of the others the table says enough.
      let table = try ELFSectionTable(of: file, header)
      if let sections = try sections(in: table, of: file, at: bias) { return sections }
    }
    let image = try ELFFile(file)
    var sections: [MappedSection] = []
    for (kind, name) in SectionNote.names.enumerated() {
      let ofThisName = try image.sections(named: name).filter {
        isMapped($0.size, at: $0.address, isAllocated: $0.flags.contains("A"))
      }
      for section in ofThisName.sorted(by: { $0.address < $1.address }) {
        sections.append(
          try place(of: kind, at: section.address, size: section.size, in: file, at: bias))
      }
    }
    return sections
  }

  /// The sections as the table has them; nil where a name stands twice.
  private static func sections(
    in table: ELFSectionTable, of file: OpenedFile, at bias: LoadBias
  ) throws(ImageError) -> [MappedSection]? {
    var indices = (mods: 0, services: 0, records: 0)
    var count = 0
    table.forEach(named: .ofThisProject) { index, name in
      count += 1
      switch name {
      case 0: indices.mods = index
      case 1: indices.services = index
      default: indices.records = index
      }
    }
    guard count > 0 else { return [] }
    var sections: [MappedSection] = []
    sections.reserveCapacity(count)
    for kind in SectionNote.names.indices {
      let index = kind == 0 ? indices.mods : kind == 1 ? indices.services : indices.records
      guard index != 0 else { continue }
      count -= 1
      let range = table.range(of: index)
      let (address, size) = (VirtualAddress(rawValue: range.address), range.size)
      let isAllocated = table.kind(of: index).flags & UInt64(SHF_ALLOC) != 0
      guard isMapped(size, at: address, isAllocated: isAllocated) else { continue }
      sections.append(try place(of: kind, at: address, size: size, in: file, at: bias))
    }
    return count == 0 ? sections : nil
  }

  /// Where a section of the file stands in the process.
  private static func place(
    of kind: Int, at address: VirtualAddress, size: UInt64, in file: OpenedFile, at bias: LoadBias
  ) throws(ImageError) -> MappedSection {
    let start = bias.runtimeAddress(of: address).rawValue
    let (stop, overflow) = start.addingReportingOverflow(UInt(truncatingIfNeeded: size))
    guard !overflow else {
      throw file.error(
        .outOfImage,
        "The section stands at 0x\(address.rawValue.hexadecimal), where nothing is mapped.",
        section: SectionNote.names[kind])
    }
    return MappedSection(kind: kind, start: start, stop: stop)
  }

  /// Whether an image with these headers and this build-id was mapped from this file.
  ///
  /// `strip` may have been at work since: with a build-id, where the section table stands does not
  /// count. `header` is empty where no segment of the image holds it.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>) -> Bool {
    guard programHeaders.equals(self.programHeaders.span), id.isThere else { return false }
    if header.isEmpty { return true }
    let ours = self.header.span
    guard header.count == ours.count else { return false }
    if !id.isWanted { return header.equals(ours) }
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

  /// Whether this build-id is the first among the note segments, where the loader would find it too.
  ///
  /// The identity of the file has it as well, and much else that has no say here.
  private static func hasID(
    _ id: [UInt8], _ file: OpenedFile, _ header: ELFHeader, _ programHeaders: Span<UInt8>
  ) throws(ImageError) -> Bool {
    let (bits, order) = (header.bits, header.order)
    let (size, offset, fileSize, align) = bits == 64 ? (56, 8, 32, 48) : (32, 4, 16, 28)
    for start in stride(from: 0, to: programHeaders.count, by: size) {
      func word(_ field: Int) -> UInt64 {
        programHeaders.word(at: start + field, bits: bits, order: order) ?? 0
      }
      guard programHeaders.integer(at: start, order: order) == UInt32(PT_NOTE) else { continue }
      // Longer notes than anybody writes hold no build-id.
      let count = Int(min(word(fileSize), 1 << 16))
      let notes = try file.slice(at: word(offset), count: count)
      if let found = ELFNote.buildID(in: notes.span, alignment: word(align), order: order) {
        return notes.span.extracting(found).equals(id.span)
      }
    }
    return false
  }
}
