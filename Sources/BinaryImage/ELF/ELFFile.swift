internal import CElf

/// An ELF file on disk: any class, byte order and machine, linked or relocatable.
///
/// Headers are read through libelf with `ELF_C_READ`, everything else with `pread` where it is
/// needed; the file is neither mapped nor loaded, and nothing in it is believed before it is
/// checked. Use one value on one thread.
///
/// ELF: `elf_begin`, `gelf_getshdr`, `gelf_getphdr`.
public final class ELFFile: FileFormat {
  let file: OpenedFile
  let header: ELFHeader
  private let handle: ELFHandle
  /// What the file is.
  public private(set) lazy var identity = makeIdentity()

  // Each part is read when it is first needed, once.
  private var loadedSegments: ELFSegments?
  private var loadedDynamic: ELFDynamic??
  private var loadedNames: [UInt8]?
  private var loadedNote: [Section]??
  var inflated: [Int: [UInt8]] = [:]
  var inflatedSize: UInt64 = 0
  var words: FileWindow
  var texts: FileWindow
  var symbols: ELFSymbols
  // What relocations say of the sections that were asked for.
  var wanted: [Section] = []
  private var wantedNames: Set<String> = []
  var linkedRelocations: Result<ELFRelocations, ImageError>?
  var objectRelocations: [Int: Result<ELFRelocations, ImageError>] = [:]
  var objectTables: [Int: [Int]]?
  var objectSymbols: [Int: ELFSymbolTable] = [:]

  /// The largest section that is read as a whole, and the most that one file may inflate to.
  static let mostContents: UInt64 = 1 << 28

  /// Opens the file at `path`; errors and the identity call it `name`, or else the path.
  public convenience init(path: String, name: String? = nil) throws(ImageError) {
    try self.init(OpenedFile(path: Array(path.utf8), name: name ?? path))
  }

  /// Reads the headers of a file that is open already.
  init(_ file: OpenedFile) throws(ImageError) {
    self.file = file
    header = try ELFHeader(of: file)
    handle = try ELFHandle(file)
    words = FileWindow(file)
    texts = FileWindow(file)
    symbols = ELFSymbols(file, header)
  }

  /// Whether a file that starts with these bytes claims to be ELF.
  static func recognises(_ head: [UInt8]) -> Bool { head.starts(with: [0x7f, 0x45, 0x4c, 0x46]) }

  // MARK: - Sections

  /// Every section of the table, in table order, without the null entry.
  ///
  /// Throws `sectionTableMissing` where the table was stripped or cut off.
  public func allSections() throws(ImageError) -> [Section] {
    try requireSectionTable()
    let names = try names()
    // Names may share bytes, but not so many that a small file asks for gigabytes.
    var budget = names.count * 16 + 4096
    var sections: [Section] = []
    for index in 1..<max(1, sectionCount) {
      let header = try requireSectionHeader(index)
      guard let length = names.span.textLength(from: Int(header.sh_name)) else {
        throw file.error(.malformed, "The name of section \(index) lies outside the names.")
      }
      budget -= length
      guard budget > 0 else {
        throw file.error(.malformed, "The sections share their names' bytes beyond reason.")
      }
      let start = Int(header.sh_name)
      let name = String(decoding: names.span.extracting(start..<start + length))
      sections.append(section(index, header, name: name))
    }
    return sections
  }

  /// Every section of exactly this name, in table order; empty where there is none.
  ///
  /// Where the section table is missing, the sections of this project are still found through the
  /// note that every annotated image carries; for any other name that is `sectionTableMissing`.
  public func sections(named name: String) throws(ImageError) -> [Section] {
    guard hasSectionTable else {
      guard let noted = try notedSections(), SectionNote.names.contains(name) else {
        throw sectionTableMissing
      }
      let found = noted.filter { $0.name == name }
      want(found, name)
      return found
    }
    let names = try names()
    let text = Array(name.utf8)
    var found: [Section] = []
    var total: UInt64 = 0
    for index in 1..<max(1, sectionCount) {
      let header = try requireSectionHeader(index)
      guard names.span.holds(text, at: Int(header.sh_name)) else { continue }
      found.append(section(index, header, name: name))
      guard header.sh_type != UInt32(SHT_NOBITS) else { continue }
      total = total.addingReportingOverflow(min(header.sh_size, file.size)).partialValue
    }
    guard found.count <= 1 || total <= file.size else {
      throw file.error(
        .malformed, "\(found.count) sections of this name share their bytes.", section: name)
    }
    want(found, name)
    return found
  }

  /// Remembers whose pointers will be asked for, so that one pass over the relocations serves all.
  private func want(_ sections: [Section], _ name: String) {
    if wantedNames.insert(name).inserted { wanted += sections }
  }

  /// Whether the section table is there, and whole.
  var hasSectionTable: Bool { header.sections.isComplete && sectionCount > 0 }

  /// The number of sections, the null entry included.
  var sectionCount: Int { Int(header.sections.count) }

  /// A section header, or nil where there is none of that index.
  func sectionHeader(_ index: Int) -> GElf_Shdr? { handle.section(index) }

  func requireSectionHeader(_ index: Int) throws(ImageError) -> GElf_Shdr {
    guard let header = handle.section(index) else {
      throw file.error(.malformed, "Section header \(index) cannot be read.")
    }
    return header
  }

  func requireSectionTable() throws(ImageError) {
    guard hasSectionTable else { throw sectionTableMissing }
    guard handle.sectionCount == sectionCount else {
      throw file.error(
        .malformed, "\(sectionCount) section headers, but libelf finds \(handle.sectionCount).")
    }
  }

  var sectionTableMissing: ImageError {
    let cause =
      header.sections.isComplete
      ? "It was stripped of its section headers" : "It ends before its section headers"
    return file.error(
      .sectionTableMissing, "\(cause), so sections cannot be found by name.",
      at: header.sections.isComplete ? nil : header.sections.offset)
  }

  private func section(_ index: Int, _ entry: GElf_Shdr, name: String) -> Section {
    let isEmpty = entry.sh_type == UInt32(SHT_NOBITS) || entry.sh_type == UInt32(SHT_NULL)
    let address = header.isObject ? 0 : entry.sh_addr
    return Section(
      index: index, name: name, address: VirtualAddress(rawValue: address),
      offset: isEmpty ? nil : FileOffset(rawValue: entry.sh_offset),
      size: inflatedSize(of: entry) ?? entry.sh_size, flags: entry.flagLetters,
      isRetained: entry.sh_flags & UInt64(SHF_GNU_RETAIN) != 0)
  }

  // MARK: - Parts that are read once

  /// The names of the sections.
  func names() throws(ImageError) -> [UInt8] {
    if let loadedNames { return loadedNames }
    guard let index = handle.nameSection, let table = handle.section(index),
      table.sh_type == UInt32(SHT_STRTAB)
    else { throw file.error(.malformed, "The section that should hold the names is none.") }
    guard table.sh_size <= Self.mostContents else {
      throw file.error(.malformed, "The sections' names claim \(table.sh_size) bytes.")
    }
    let names = try file.read(at: table.sh_offset, count: Int(table.sh_size))
    loadedNames = names
    return names
  }

  /// The program headers.
  func segments() throws(ImageError) -> ELFSegments {
    if let loadedSegments { return loadedSegments }
    let segments = try ELFSegments(of: file, header, handle)
    loadedSegments = segments
    return segments
  }

  /// What `PT_DYNAMIC` says; nil where there is none.
  func dynamic() throws(ImageError) -> ELFDynamic? {
    if let loadedDynamic { return loadedDynamic }
    let segments = try segments()
    var dynamic: ELFDynamic?
    if let extent = segments.dynamic {
      dynamic = try ELFDynamic(of: file, header, segments, at: extent)
    }
    loadedDynamic = .some(dynamic)
    return dynamic
  }

  /// The sections that the image's note tells of; nil where it has no such note.
  func notedSections() throws(ImageError) -> [Section]? {
    if let loadedNote { return loadedNote }
    let sections = try readNotedSections()
    loadedNote = .some(sections)
    return sections
  }

  /// The inflated contents of a compressed section, in libelf's words where that fails.
  func inflate(_ section: Section) throws(ImageError) -> [UInt8] {
    switch handle.inflate(section.index) {
    case .success(let bytes): return bytes
    case .failure(let failure):
      throw file.error(
        .unsupported, "The section is compressed and libelf says: \(failure.message).",
        section: section.name, at: section.offset?.rawValue)
    }
  }
}
