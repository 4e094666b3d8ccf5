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
    _ kind: Int, _ section: Section, of file: OpenedFile, _ bias: LoadBias
  ) throws(ImageError) {
    guard section.size > 0, section.isMapped else { return nil }
    let start = bias.runtimeAddress(of: section.address).rawValue
    let (stop, overflow) = start.addingReportingOverflow(UInt(truncatingIfNeeded: section.size))
    try file.check(
      !overflow, .outOfImage,
      "The section's address is \(section.address.rawValue.hexadecimal), where nothing is mapped.",
      section: section.name)
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
    let (image, id) = (try ELFFile(file), mapped.buildID)
    sections = try Self.sections(of: image, at: mapped.bias)
    header = try file.slice(at: 0, count: ELFHeader.size(bits: image.header.bits))
    programHeaders = try image.programHeaderBytes()
    self.id = (isWanted: !id.isEmpty, isThere: id.isEmpty ? true : try image.loadedBuildID() == id)
  }

  private static func sections(
    of image: ELFFile, at bias: LoadBias
  ) throws(ImageError) -> [MappedSection] {
    var sections: [MappedSection] = []
    for (kind, name) in SectionNote.names.enumerated() {
      for section in try image.sections(named: name).sorted(by: { $0.address < $1.address }) {
        if let placed = try MappedSection(kind, section, of: image.file, bias) {
          sections.append(placed)
        }
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
    if header.isEmpty || header.equals(self.header.span) { return true }
    var bytes: [UInt8] = []
    for index in header.indices { bytes.append(header[index]) }
    return id.isWanted && ELFHeader.areOfOneBuild(bytes[...], self.header)
  }
}
