internal import CElf

/// An ELF file on disk: any class, byte order and machine, linked or relocatable.
///
/// libelf, with `ELF_C_READ`, reads the headers of the sections that are found and inflates what is
/// compressed; everything else is a `pread` where it is needed. The file is neither mapped nor
/// loaded, and nothing in it is believed before it is checked. Use one value on one thread.
///
/// ELF: `elf_begin`, `gelf_getshdr`, `elf_compress`.
package final class ELFFile: FileFormat {
  package let file: OpenedFile
  let header: ELFHeader
  /// What the file is.
  package private(set) lazy var identity = makeIdentity()

  /// What is known of the machine.
  private(set) lazy var machine = ELFMachine(
    number: header.machine, bits: header.bits, order: header.order)

  /// What the machine's relocation types are called.
  private(set) lazy var relocationNames = ELFRelocationNames(
    machine: header.machine, bits: header.bits)

  // Each part is read when it is first needed, once.
  private var loadedHandle: ELFHandle?
  private var loadedTable: ELFSectionTable?
  private var loadedSegments: ELFSegments?
  private var loadedDynamic: ELFDynamic??
  private var loadedNote: [Section]??
  private var loadedCode: AddressRanges?
  /// How often sections were looked for by name, and all names from when that is not rare.
  private var lookups = 0
  private var sectionNames: [String: [Int]]?
  private static let fewLookups = 32
  /// Whether the object has no code but that of GCC for itself, once that was asked.
  var knownSlimLTO: Bool?
  var inflatedSections = InflatedSections()
  var words = FileWindow()
  var texts = FileWindow()
  var mapped = FileWindow()
  var symbols = ELFSymbols()
  var relocations = ELFRelocationTables()

  /// Opens the file at `path`; errors and the identity call it `name`, or else the path.
  package convenience init(path: String, name: String? = nil) throws(ImageError) {
    try self.init(OpenedFile(path: path, name: name ?? path))
  }

  /// Reads the headers of a file that is open already.
  package init(_ file: OpenedFile) throws(ImageError) {
    self.file = file
    header = try ELFHeader(of: file)
  }

  /// Whether a file that starts with these bytes claims to be ELF.
  package static func recognises(_ head: [UInt8]) -> Bool {
    head.starts(with: [0x7f, 0x45, 0x4c, 0x46])
  }

  // MARK: - Sections

  /// Every section of the table, in table order, without the null entry.
  ///
  /// Throws `sectionTableMissing` where the table was stripped or cut off.
  package func allSections() throws(ImageError) -> [Section] {
    let table = try sectionTable()
    var budget = table.plausibleLength
    var sections: [Section] = []
    for index in 1..<max(1, table.count) {
      guard let name = table.name(of: index) else {
        throw file.error(.malformed, "The name of section \(index) lies outside the names.")
      }
      budget -= name.utf8.count
      guard budget > 0 else {
        throw file.error(.malformed, "The sections share their names' bytes beyond reason.")
      }
      sections.append(section(index, try sectionHeader(index), name: name))
    }
    return sections
  }

  /// Every section of exactly this name, in table order; empty where there is none.
  ///
  /// Where the section table is missing, the sections of this project are still found through the
  /// note that every annotated image carries; for any other name that is `sectionTableMissing`.
  package func sections(named name: String) throws(ImageError) -> [Section] {
    try file.tellingChanges { () throws(ImageError) in try find(name) }
  }

  private func find(_ name: String) throws(ImageError) -> [Section] {
    guard hasSectionTable else {
      guard let noted = try notedSections(), SectionNote.names.contains(name) else {
        throw sectionTableMissing
      }
      let found = noted.filter { $0.name == name }
      relocations.want(found, named: name)
      return found
    }
    var found: [Section] = []
    var total: UInt64 = 0
    for index in try indices(named: name) {
      let header = try sectionHeader(index)
      found.append(section(index, header, name: name))
      if header.hasContents { total = total.saturating(adding: min(header.sh_size, file.size)) }
    }
    guard found.count <= 1 || total <= file.size else {
      throw file.error(
        .malformed, "\(found.count) sections of this name share their bytes.", section: name)
    }
    if found.isEmpty, header.isObject, try isSlimLTO() {
      throw file.error(
        .unsupported,
        "The object holds GCC's intermediate code alone (-flto), so its sections are not there "
          + "yet; compile it with -ffat-lto-objects, or name what was linked of it.")
    }
    relocations.want(found, named: name)
    return found
  }

  /// The indices of the sections of exactly this name, ascending.
  private func indices(named name: String) throws(ImageError) -> [Int] {
    let table = try sectionTable()
    lookups += 1
    if lookups == Self.fewLookups { sectionNames = table.indicesByName() }
    guard let sectionNames else { return table.indices(named: name) }
    let bytes = Array(name.utf8)
    return (sectionNames[name] ?? []).filter { table.name(of: $0, is: bytes) }
  }

  /// Whether the section table is there, and whole.
  var hasSectionTable: Bool { header.sections.isComplete && header.sections.count > 0 }

  /// The indices of all sections but the null entry; none where there is no table.
  var sectionIndices: Range<Int> {
    hasSectionTable ? 1..<max(1, Int(header.sections.count)) : 1..<1
  }

  /// The header of a section, as libelf reads it.
  func sectionHeader(_ index: Int) throws(ImageError) -> GElf_Shdr {
    guard hasSectionTable else { throw sectionTableMissing }
    guard let header = try handle().section(index) else {
      throw file.error(.malformed, "Section header \(index) cannot be read.")
    }
    return header
  }

  private var sectionTableMissing: ImageError {
    let cause =
      header.sections.isComplete
      ? "It was stripped of its section headers" : "It ends before its section headers do"
    return file.error(
      .sectionTableMissing, "\(cause), so sections cannot be found by name.",
      at: header.sections.isComplete ? nil : header.sections.offset)
  }

  private func section(_ index: Int, _ entry: GElf_Shdr, name: String) -> Section {
    let address = header.isObject ? 0 : entry.sh_addr
    return Section(
      index: index, name: name, address: VirtualAddress(rawValue: address),
      offset: entry.hasContents ? file.offset(entry.sh_offset) : nil,
      size: inflatedSize(of: entry) ?? entry.sh_size, flags: entry.flagLetters,
      type: ELFSectionTypes.name(of: entry.sh_type, machine: header.machine),
      alignment: entry.sh_addralign, entrySize: entry.sh_entsize, link: Int(entry.sh_link),
      isRetained: entry.sh_flags & UInt64(SHF_GNU_RETAIN) != 0)
  }

  // MARK: - Parts that are read once

  /// libelf's view of the file.
  func handle() throws(ImageError) -> ELFHandle {
    if let loadedHandle { return loadedHandle }
    let handle = try ELFHandle(file)
    loadedHandle = handle
    return handle
  }

  /// The section table as it stands in the file.
  func sectionTable() throws(ImageError) -> ELFSectionTable {
    if let loadedTable { return loadedTable }
    guard hasSectionTable else { throw sectionTableMissing }
    let table = try ELFSectionTable(of: file, header)
    loadedTable = table
    return table
  }

  /// The program headers.
  func segments() throws(ImageError) -> ELFSegments {
    if let loadedSegments { return loadedSegments }
    let segments = try ELFSegments(of: file, header)
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

  /// The addresses of the sections that are run; none without a section table.
  func codeRanges() throws(ImageError) -> AddressRanges {
    if let loadedCode { return loadedCode }
    var ranges: [Range<UInt64>] = []
    for index in sectionIndices {
      let (type, flags) = try sectionTable().kind(of: index)
      guard flags & UInt64(SHF_ALLOC | SHF_EXECINSTR) == UInt64(SHF_ALLOC | SHF_EXECINSTR),
        type != UInt32(SHT_NOBITS)
      else { continue }
      let (address, size) = try sectionTable().range(of: index)
      ranges.append(address..<address.saturating(adding: size))
    }
    let code = AddressRanges(ranges)
    loadedCode = code
    return code
  }

  /// The sections that the image's note tells of; nil where it has no such note.
  func notedSections() throws(ImageError) -> [Section]? {
    if let loadedNote { return loadedNote }
    let sections = try readNotedSections()
    loadedNote = .some(sections)
    return sections
  }
}
