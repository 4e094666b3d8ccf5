internal import CElf

/// An ELF file on disk: any class, byte order and machine, linked or relocatable.
///
/// libelf reads its structures: headers through one descriptor, tables through capsules. Texts and the words of
/// sections are read with `pread` when they are needed. The file is neither mapped nor loaded. libelf sees only what
/// `ELFGuard` has admitted. Use one value on one thread.
///
/// ELF: `elf_begin`, `gelf_getehdr`, `gelf_getshdr`, `gelf_getphdr`.
package final class ELFFile: FileImage {
  package let file: OpenedFile
  var guardian: ELFGuard
  /// The header, and the locations of its tables.
  package let header: ELFHeader
  /// The identity of the file.
  package private(set) lazy var identity = makeIdentity()
  /// The known facts about the machine.
  let machine: ELFMachine
  /// The names of the machine's relocation types.
  private(set) lazy var relocationNames = ELFRelocationNames(of: machine)

  package var words: (bits: Int, order: ImageIdentity.ByteOrder) { (header.bits, header.order) }
  package var pointerAlignment: Int { machine.pointerAlignment ?? pointerSize }

  /// The headers that libelf has read, and the index of the section that holds the names.
  private let headers: (sections: [GElf_Shdr], segments: [GElf_Phdr], names: Int)

  // Each part is read once, when it is first needed. The three that are read for each slot are not checked for
  // overlapping access, because none of them needs itself.
  @exclusivity(unchecked) private var onceTable = Once<ELFSectionTable>()
  @exclusivity(unchecked) private var onceSegments = Once<ELFSegments>()
  @exclusivity(unchecked) private var onceDynamic = Once<ELFDynamic?>()
  private var onceNoted = Once<[Section]?>()
  private var onceSurvey = Once<ELFRelocations.Survey>(), onceHash = Once<ELFSymbolHash>()
  var onceCopied = Once<AddressRanges>()
  private var onceCode = Once<AddressRanges>(), onceSlim = Once<Bool>()
  /// The number of lookups by name; from `fewLookups` on, all names are indexed.
  private var lookups = 0
  private var sectionNames: [String: [Int]]?
  private static let fewLookups = 32
  /// The indices of the sections that hold entries, by the order of `SectionNote.names`.
  private var projectSections: [[Int]]?
  /// The bytes of compressed sections, by their index.
  var inflatedSections: [Int: [UInt8]] = [:]
  /// The addresses of the sections whose pointers are wanted; one pass over the relocations serves all of them.
  var wanted: Set<Range<UInt64>> = []
  /// Whether these addresses include the segments that the loader may write to.
  var wantsSegments = false
  /// Linked files: the relocations that cover the wanted addresses.
  var linkedRelocations: Result<ELFRelocations, ImageError>?
  /// Objects: the relocations of each section, by its index.
  var objectRelocations: [Int: Result<ELFRelocations, ImageError>] = [:]
  /// Objects: the relocation sections, by the index of the section that they apply to.
  var onceRelocationSections = Once<[Int: [Int]]>()
  /// Objects: the symbol tables, by their index.
  var objectSymbols: [Int: ELFSymbols] = [:]
  /// The notes that were read, by offset, size, alignment and address.
  var knownNotes: [[UInt64]: [ELFNote]] = [:]
  /// The descriptor that inflates sections; libelf's own copies of them end with it.
  private var inflater: ELFDescriptor?
  private var inflatedHere = 0

  /// Reads the headers of a file that is open already.
  package init(_ file: OpenedFile) throws(ImageError) {
    self.file = file
    guardian = ELFGuard(file)
    (header, headers) = try file.tellingChanges { () throws(ImageError) in
      let claims = try ELFGuard.claims(of: file)
      let elf = try Self.descriptor(of: file, claims)
      guard let raw = elf.header else { throw file.isRefused(ELFDescriptor.lastMessage) }
      let header = ELFHeader(
        raw, claims.format.order, sections: claims.sections, segments: claims.segments)
      let (sections, segments) = (claims.sections.held, claims.segments.held)
      return (header, (elf.sections(sections), elf.segments(segments), elf.nameSection ?? 0))
    }
    machine = ELFMachine(header.format)
  }

  /// Returns libelf's descriptor of a file, or of a copy of its headers if it is part of a larger file.
  private static func descriptor(
    of file: OpenedFile, _ claims: ELFGuard.Claims
  ) throws(ImageError) -> ELFDescriptor {
    if file.isWhole { return try ELFDescriptor(file, file.isRefused) }
    func bytes(_ table: ELFHeader.Table, _ type: Elf_Type) throws(ImageError) -> ArraySlice<UInt8> {
      // Nothing is held of a table that is cut off.
      table.held == 0
        ? [] : try file.slice(at: table.offset, count: table.held * claims.format.size(of: type))
    }
    return try ELFDescriptor(
      head: file.head[...], sections: bytes(claims.sections, ELF_T_SHDR),
      segments: bytes(claims.segments, ELF_T_PHDR), claims.format, file.isRefused)
  }

  /// Returns whether a file that starts with these bytes claims to be ELF.
  package static func recognises(_ head: [UInt8]) -> Bool {
    head.starts(with: [0x7f, 0x45, 0x4c, 0x46])
  }

  // MARK: - Sections

  /// Returns every section of the table, in table order, without the null entry.
  ///
  /// Throws `sectionTableMissing` if the table was stripped or cut off.
  package func allSections() throws(ImageError) -> [Section] {
    let table = try sectionTable()
    var budget = table.plausibleLength
    var sections: [Section] = []
    for index in 1..<max(1, table.count) {
      guard let name = table.name(of: index) else {
        throw file.error(
          .malformed, "The name of section \(index) lies outside the names.",
          at: header.sections.offset + UInt64(index * header.format.size(of: ELF_T_SHDR)))
      }
      budget -= name.utf8.count
      try file.check(budget > 0, .malformed, "Too many sections share one name table.")
      var section = try section(index, table[index], name: name)
      section.nameBytes = table.nameBytes(of: index, name)
      sections.append(section)
    }
    return sections
  }

  /// Returns every section of exactly this name, in table order; empty if there is none.
  ///
  /// Without a section table, the sections of this project are still found through the note that every annotated image
  /// carries. Any other name throws `sectionTableMissing`.
  package func findSections(named name: String) throws(ImageError) -> [Section] {
    guard hasSectionTable else {
      guard SectionNote.names.contains(name), let noted = try notedSections() else {
        _ = try sectionTable()
        throw sectionTableMissing
      }
      let found = noted.filter { $0.name == name }
      for section in found { wanted.insert(section.addresses) }
      return found
    }
    var found: [Section] = []
    var total: UInt64 = 0
    for index in try indices(named: name) {
      let header = try sectionHeader(index)
      found.append(try section(index, header, name: name))
      // A section that the file does not hold is refused when it is read.
      if header.hasContents, file.holds(header.sh_offset, header.sh_size) {
        total = total.saturating(adding: header.sh_size)
      }
    }
    try file.check(
      found.count <= 1 || total <= file.size, .malformed,
      "\(found.count) sections of this name share their bytes.", section: name)
    if found.isEmpty, header.isObject, try onceSlim(sectionTable().isSlimLTO(of: file)) {
      throw file.error(
        .unsupported,
        "The object holds GCC's intermediate code alone (-flto), so its sections are not there "
          + "yet; compile it with -ffat-lto-objects, or name what was linked of it.")
    }
    for section in found { wanted.insert(section.addresses) }
    return found
  }

  /// Returns the number of entry sections that the section table names, whatever is in them.
  package func countOfEntrySections() throws(ImageError) -> Int {
    try SectionNote.names.map(indices(named:)).reduce(0) { $0 + $1.count }
  }

  /// Returns the indices of the sections of exactly this name, ascending.
  private func indices(named name: String) throws(ImageError) -> [Int] {
    let table = try sectionTable()
    // Callers ask for all three names, one after the other.
    if let number = SectionNote.names.firstIndex(of: name) {
      if let known = projectSections { return known[number] }
      var found: [[Int]] = [[], [], []]
      table.forEach(named: .ofThisProject) { index, number in found[number].append(index) }
      projectSections = found
      return found[number]
    }
    lookups += 1
    if lookups == Self.fewLookups { sectionNames = table.indicesByName() }
    guard let sectionNames else { return table.indices(named: name) }
    let bytes = Array(name.utf8)
    return (sectionNames[name] ?? []).filter { table.name(of: $0, is: bytes) }
  }

  /// Whether the section table is there, whole and with names.
  package var hasSectionTable: Bool { hasSectionHeaders && (try? sectionTable()) != nil }

  /// Whether there are section headers. A core file may have only the null entry, to count its segments.
  var hasSectionHeaders: Bool {
    header.sections.isComplete && header.sections.count > (isCore ? 1 : 0)
  }

  /// The indices of all sections but the null entry; empty if there is no table.
  var sectionIndices: Range<Int> {
    hasSectionTable ? 1..<max(1, Int(header.sections.count)) : 1..<1
  }

  /// Returns the header of a section.
  func sectionHeader(_ index: Int) throws(ImageError) -> GElf_Shdr {
    let table = try sectionTable()
    try file.check(0..<table.count ~= index, .malformed, "Section header \(index) cannot be read.")
    return table[index]
  }

  private var sectionTableMissing: ImageError {
    let cause =
      header.sections.isComplete
      ? "It was stripped of its section headers" : "It ends before its section headers do"
    return file.error(
      .sectionTableMissing, "\(cause), so sections cannot be found by name.",
      at: header.sections.isComplete ? nil : header.sections.offset)
  }

  private func section(
    _ index: Int, _ entry: GElf_Shdr, name: String
  ) throws(ImageError) -> Section {
    let compression = compression(of: entry)
    var section = Section(
      index: index, name: name,
      address: VirtualAddress(rawValue: header.isObject ? 0 : entry.sh_addr),
      offset: entry.hasContents ? file.offset(entry.sh_offset) : nil,
      size: compression?.ch_size ?? entry.sh_size, flags: entry.flagLetters,
      type: entry.typeName(header), alignment: compression?.ch_addralign ?? entry.sh_addralign,
      entrySize: entry.sh_entsize, link: Int(entry.sh_link),
      isRetained: entry.sh_flags & UInt64(SHF_GNU_RETAIN) != 0)
    section.isMapped = isMapped(entry)
    return section
  }

  // MARK: - Parts that are read once

  /// Returns the section table as it is in the file.
  func sectionTable() throws(ImageError) -> ELFSectionTable {
    try unsafe onceTable(readSectionTable())
  }

  private func readSectionTable() throws(ImageError) -> ELFSectionTable {
    guard hasSectionHeaders else { throw sectionTableMissing }
    let (sections, number) = (headers.sections, headers.names)
    guard sections.count == Int(header.sections.count) else {
      throw file.error(
        .malformed, "libelf does not read section header \(sections.count).",
        at: header.sections.offset)
    }
    let named = 1..<sections.count ~= number ? sections[number] : nil
    let extent = try ELFGuard.names(named, of: file)
    let names =
      if let named, named.isCompressed { try inflated(number, named, holdsNames: true) } else {
        try file.read(at: extent.offset, count: Int(extent.size))
      }
    return ELFSectionTable(sections, names: names)
  }

  /// Returns the bytes of the file from a linked address to the end of its segment.
  package func extent(
    from address: VirtualAddress, reading count: UInt64
  ) throws(ImageError) -> FileExtent? { try segments().extent(from: address) }

  /// Returns the program headers.
  package func segments() throws(ImageError) -> ELFSegments {
    try unsafe onceSegments(readSegments())
  }

  private func readSegments() throws(ImageError) -> ELFSegments {
    try file.check(
      header.segments.isComplete, .truncated, "The file ends inside the program headers.",
      at: header.segments.offset)
    guard headers.segments.count == Int(header.segments.count) else {
      throw file.isRefused("it finds \(headers.segments.count) program headers")
    }
    return try ELFSegments(headers.segments, of: file)
  }

  /// Returns the dynamic section, `PT_DYNAMIC`; nil if there is none.
  func dynamic() throws(ImageError) -> ELFDynamic? {
    try unsafe onceDynamic(
      try segments().dynamic.map { segment throws(ImageError) in
        try ELFDynamic(of: self, at: segment)
      })
  }

  /// Returns the symbols and places that the relocations together name, call and write to.
  func relocationSurvey() throws(ImageError) -> ELFRelocations.Survey {
    try onceSurvey(surveyRelocations())
  }

  /// Returns the table that finds symbols by their names.
  func symbolHash() throws(ImageError) -> ELFSymbolHash { try onceHash(ELFSymbolHash(of: self)) }

  /// Returns the sections that the image's note describes; nil if it has no such note.
  func notedSections() throws(ImageError) -> [Section]? { try onceNoted(readNotedSections()) }

  /// Returns the addresses of the executable sections; none without a section table.
  func codeRanges() throws(ImageError) -> AddressRanges {
    try onceCode(
      AddressRanges(
        hasSectionTable
          ? sectionTable().headers.dropFirst()
            .filter { $0.isLoaded && $0.isExecutable && $0.hasContents }.map(\.addresses) : []))
  }
}

/// A part that is read when it is first needed; the failure is kept too. Two properties take fewer instructions than a
/// `Result`.
struct Once<Value> {
  private var value: Value?
  private var failure: ImageError?

  /// Returns what was made before, or makes it.
  @inline(__always)
  mutating func callAsFunction(
    _ make: @autoclosure () throws(ImageError) -> Value
  ) throws(ImageError) -> Value {
    if let value { return value }
    if let failure { throw failure }
    do throws(ImageError) {
      let made = try make()
      value = made
      return made
    } catch {
      failure = error
      throw error
    }
  }
}

extension ELFFile {
  /// Inflates a section that the guard has admitted; nil if libelf refuses.
  func inflate(_ index: Int) throws(ImageError) -> [UInt8]? {
    if inflater == nil {
      inflater =
        file.isWhole
        ? try ELFDescriptor(file, file.isRefused)
        : try ELFDescriptor(copyOf: guardian.copy(), file.isRefused)
    }
    guard let bytes = inflater?.inflated(index) else { return nil }
    inflatedHere += bytes.count
    if inflatedHere > 1 << 22 {
      inflater = nil
      inflatedHere = 0
    }
    return bytes
  }
}

extension OpenedFile {
  /// Returns the error for a file that libelf does not read.
  func isRefused(_ reason: String) -> ImageError {
    error(.malformed, "libelf does not read the file: \(reason).")
  }
}
