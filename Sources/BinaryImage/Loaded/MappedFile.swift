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

extension MappedSection {
  /// Places a section of a file in the process; nil where the loader maps none: it is empty, or not allocated.
  fileprivate init?(
    _ kind: Int, at address: VirtualAddress, size: UInt64, isAllocated: Bool, of file: OpenedFile,
    _ bias: LoadBias
  ) throws(ImageError) {
    guard size > 0, address.rawValue != 0 || isAllocated else { return nil }
    let start = bias.runtimeAddress(of: address).rawValue
    let (stop, overflow) = start.addingReportingOverflow(UInt(truncatingIfNeeded: size))
    try file.check(
      !overflow, .outOfImage,
      "The section's address is \(address.rawValue.hexadecimal), where nothing is mapped.",
      section: SectionNote.names[kind])
    self.init(kind: kind, start: start, stop: stop)
  }
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

  /// Reads the file at `path`, which should be that of `mapped`; errors call it `name`.
  init(path: String, name: String, of mapped: MappedImage) throws(ImageError) {
    let file = try OpenedFile(path: path, name: name, wasMapped: true)
    let (header, id) = (try ELFHeader(of: file), mapped.buildID)
    sections = try Self.sections(of: file, header, at: mapped.bias)
    self.header = try file.slice(at: 0, count: ELFHeader.size(bits: header.bits))
    let programHeaders = try ELFSegment.table(of: file, header)
    self.programHeaders = programHeaders
    let isThere = id.isEmpty ? true : try Self.hasID(id, file, header, programHeaders)
    self.id = (isWanted: !id.isEmpty, isThere: isThere)
  }

  private static func sections(
    of file: OpenedFile, _ header: ELFHeader, at bias: LoadBias
  ) throws(ImageError) -> [MappedSection] {
    var sections: [MappedSection] = []
    sections.reserveCapacity(SectionNote.names.count)
    if header.sections.isComplete, header.sections.count > 0 {
      // Most files declare nothing, and their names alone say so; of the others the table says enough,
      // unless several sections have one name: those have to be checked against each other.
      let table = try ELFSectionTable(of: file, header)
      var indices: InlineArray<3, Int> = [0, 0, 0]
      var isUnique = true
      table.forEach(named: .ofThisProject) { index, kind in
        isUnique = isUnique && indices[kind] == 0
        indices[kind] = index
      }
      if isUnique {
        for kind in indices.indices where indices[kind] != 0 {
          let section = table[indices[kind]]
          let placed = try MappedSection(
            kind, at: VirtualAddress(rawValue: section.address), size: section.size,
            isAllocated: section.isLoaded, of: file, bias)
          if let placed { sections.append(placed) }
        }
        return sections
      }
    }
    let image = try ELFFile(file)
    for (kind, name) in SectionNote.names.enumerated() {
      for section in try image.sections(named: name).sorted(by: { $0.address < $1.address }) {
        let placed = try MappedSection(
          kind, at: section.address, size: section.size, isAllocated: section.flags.contains("A"),
          of: file, bias)
        if let placed { sections.append(placed) }
      }
    }
    return sections
  }

  /// Whether an image with these headers and this build-id was mapped from this file.
  ///
  /// With a build-id, the position of the section table does not count. `header` is empty where no segment
  /// of the image holds it.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>) -> Bool {
    guard programHeaders.equals(self.programHeaders.span), id.isThere else { return false }
    if header.isEmpty { return true }
    let ours = self.header.span
    return id.isWanted ? ELFHeader.areOfOneBuild(header, ours) : header.equals(ours)
  }

  /// Whether this build-id is the first among the note segments, where the loader would find it too.
  ///
  /// The identity of the file has it as well, and much else that has no say here.
  private static func hasID(
    _ id: [UInt8], _ file: OpenedFile, _ header: ELFHeader, _ programHeaders: ArraySlice<UInt8>
  ) throws(ImageError) -> Bool {
    let isSame = try ELFSegment.first(
      ofType: UInt32(PT_NOTE), in: programHeaders.span, bits: header.bits, order: header.order
    ) { segment throws(ImageError) -> Bool? in
      // Longer notes than anybody writes hold no build-id.
      let notes = try file.slice(at: segment.offset, count: Int(min(segment.fileSize, 1 << 16)))
      let found = ELFNote.buildID(in: notes.span, alignment: segment.alignment, order: header.order)
      return found.map { notes.span.extracting($0).equals(id.span) }
    }
    return isSame ?? false
  }
}
