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
    let image = try ELFFile(file)
    sections = try Self.sections(of: image, at: mapped.bias)
    let (header, id) = (image.header, mapped.buildID)
    self.header = try file.slice(at: 0, count: ELFHeader.size(bits: header.bits))
    programHeaders = try file.slice(
      at: header.segments.offset,
      count: Int(header.segments.count) * ELFSegment.size(bits: header.bits))
    let isThere = id.isEmpty ? true : try Self.hasID(id, file, header)
    self.id = (isWanted: !id.isEmpty, isThere: isThere)
  }

  private static func sections(
    of image: ELFFile, at bias: LoadBias
  ) throws(ImageError) -> [MappedSection] {
    if image.hasSectionTable {
      // Most files declare nothing, and their names alone say so.
      var isEmpty = true
      try image.sectionTable().forEach(named: .ofThisProject) { _, _ in isEmpty = false }
      if isEmpty { return [] }
    }
    var sections: [MappedSection] = []
    for (kind, name) in SectionNote.names.enumerated() {
      // The loader maps no section that is empty or not allocated.
      let mapped = try image.sections(named: name).filter {
        $0.size > 0 && ($0.address.rawValue != 0 || $0.flags.contains("A"))
      }
      for section in mapped.sorted(by: { $0.address < $1.address }) {
        let start = bias.runtimeAddress(of: section.address).rawValue
        let (stop, overflow) = start.addingReportingOverflow(
          UInt(truncatingIfNeeded: section.size))
        guard !overflow else {
          throw image.file.error(
            .outOfImage,
            "The section stands at 0x\(section.address.rawValue.hexadecimal), where nothing is "
              + "mapped.", section: name)
        }
        sections.append(MappedSection(kind: kind, start: start, stop: stop))
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
    _ id: [UInt8], _ file: OpenedFile, _ header: ELFHeader
  ) throws(ImageError) -> Bool {
    for segment in try ELFSegment.all(of: file, header) where segment.type == UInt32(PT_NOTE) {
      // Longer notes than anybody writes hold no build-id.
      let notes = try file.slice(at: segment.offset, count: Int(min(segment.fileSize, 1 << 16)))
      let found = ELFNote.buildID(
        in: notes.span, alignment: segment.alignment, order: header.order)
      if let found { return notes.span.extracting(found).equals(id.span) }
    }
    return false
  }
}
