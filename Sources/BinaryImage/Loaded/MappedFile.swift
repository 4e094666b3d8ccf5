/// A file that claims to be the one a mapped image came from.
///
/// It may have been replaced or deleted since, or its path may lead elsewhere today. The headers
/// decide: the loader maps them, and two builds that share them share their section table too.
struct MappedFile {
  /// The sections of this package that are mapped and not empty: by name, then by address.
  let sections: [Section]
  private let id: [UInt8]
  private let header: [UInt8]
  private let programHeaders: [UInt8]

  /// Reads the file at `path`; errors call it `name`.
  init(path: String, name: String) throws(ImageError) {
    let image = try ELFFile(path: path, name: name)
    var sections: [Section] = []
    for name in SectionNote.names {
      sections += try image.sections(named: name).filter(Self.isMapped)
        .sorted { $0.address < $1.address }
    }
    self.sections = sections
    id = image.identity.id
    header = try image.file.read(at: 0, count: image.header.bits == 64 ? 64 : 52)
    let table = image.header.segments
    let size = image.header.bits == 64 ? 56 : 32
    programHeaders = try image.file.read(at: table.offset, count: Int(table.count) * size)
  }

  /// Whether an image with these headers and this build-id was mapped from this file.
  ///
  /// `strip` may have been at work since: with a build-id, where the section table stands does not
  /// count. `header` is empty where no segment of the image holds it.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>, id: [UInt8]) -> Bool {
    guard id == self.id, programHeaders.equals(self.programHeaders) else { return false }
    if header.isEmpty { return true }
    guard header.count == self.header.count else { return false }
    if id.isEmpty { return header.equals(self.header) }
    // e_shoff stands behind e_phoff; e_shentsize, e_shnum and e_shstrndx end the header.
    let word = header.count == 64 ? 8 : 4
    let table = 24 + 2 * word..<24 + 3 * word
    for index in 0..<header.count - 6 where !table.contains(index) {
      guard header[index] == self.header[index] else { return false }
    }
    return true
  }

  /// Whether the loader maps a section: not if it is empty or not allocated.
  private static func isMapped(_ section: Section) -> Bool {
    section.size > 0 && (section.address.rawValue != 0 || section.flags.contains("A"))
  }
}

extension Span where Element == UInt8 {
  /// Whether these are the same bytes.
  fileprivate func equals(_ other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    for index in other.indices where self[index] != other[index] { return false }
    return true
  }
}
