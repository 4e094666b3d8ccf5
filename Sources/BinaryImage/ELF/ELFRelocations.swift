internal import CElf

/// One relocation: what the linker asks the loader, or a later linker, to write at a place.
struct ELFRelocation {
  /// The form in which it was written.
  enum Form: UInt8 {
    /// The addend is in the relocation.
    case rela
    /// The addend is in place.
    case rel
    /// One bit says that the word is relative; the addend is in place.
    case relr
  }

  /// `r_offset`: a linked address; in an object, an offset into the section.
  var place: UInt64
  /// `r_addend`; meaningless where the addend is in place.
  var addend: Int64
  /// The symbol's number, or 0.
  var symbol: UInt32
  /// The machine's number for what to write.
  var type: UInt32
  /// The form in which it was written.
  var form: Form
  /// Whether several relocations of an object together make the word.
  var isCombined = false
}

/// Where relocations of one encoding are in the file.
struct ELFRelocationTable {
  /// How the entries are written.
  enum Encoding {
    /// `Elf64_Rela`: place, what to write, addend.
    case rela
    /// `Elf64_Rel`: the same without the addend.
    case rel
    /// `DT_RELR`: addresses and bitmaps.
    case relr
    /// `SHT_CREL`: differences in LEB128.
    case crel
    /// `DT_ANDROID_RELA`: groups of differences in LEB128.
    case androidRela
    /// `DT_ANDROID_REL`: the same without addends.
    case androidRel
  }

  /// How the entries are written.
  var encoding: Encoding
  /// Where they are.
  var bytes: ELFBytes

  init(encoding: Encoding, _ bytes: ELFBytes) { (self.encoding, self.bytes) = (encoding, bytes) }

  /// Where the file stores them; nil if they were inflated.
  var offset: UInt64? { if case .stored(let extent) = bytes { extent.offset } else { nil } }
}

/// The relocations that fall into some ranges, and the copies, found in one pass over the tables.
final class ELFRelocations {
  private let found: ELFRelocationCollector

  /// Collects what `tables` say about `ranges`, and what the loader does without them.
  init(
    of file: OpenedFile, _ header: ELFHeader, _ machine: ELFMachine,
    in tables: [ELFRelocationTable], globalOffsets: ELFGlobalOffsets? = nil, ranges: AddressRanges,
    survey: Survey? = nil
  ) throws(ImageError) {
    var found = ELFRelocationCollector(of: file, header, machine, ranges, survey)
    if let globalOffsets { try found.collect(globalOffsets) }
    for table in tables { try found.collect(table) }
    found.settle()
    self.found = found
  }

  /// What was looked at.
  var ranges: AddressRanges { found.ranges }
  /// What all of them together do; nil where that is not asked for.
  var survey: Survey? { found.survey }

  /// The relocation that writes the word at `place`.
  func relocation(at place: UInt64) -> ELFRelocation? { found.kept.element(at: place, by: \.place) }

  /// The first place at or behind another that is written; nil where none is.
  func place(notBefore place: UInt64) -> UInt64? {
    let next = found.kept.sortedIndex(where: { $0.place >= place })
    return next < found.kept.count ? found.kept[next].place : nil
  }

  /// The last copy that starts at or before `address`: the symbol tells how far it reaches.
  func copy(notAfter address: UInt64) -> ELFRelocation? {
    found.copies.last(notAfter: address, by: \.place).map { found.copies[$0] }
  }
}

/// Reads tables of relocations and keeps what falls into some ranges.
///
/// A library may have millions of relocations and three sections that matter: tables are read in
/// chunks, and only what falls into the ranges is kept.
struct ELFRelocationCollector {
  /// What is looked at.
  let ranges: AddressRanges
  private(set) var kept: [ELFRelocation] = []
  private(set) var copies: [ELFRelocation] = []
  /// Whether several relocations of one place together make its word, as in objects.
  private let areCombined: Bool
  let file: OpenedFile
  let machine: ELFMachine
  private let copyType: UInt32?
  private(set) var survey: ELFRelocations.Survey?
  let format: ELFFormat

  init(
    of file: OpenedFile, _ header: ELFHeader, _ machine: ELFMachine, _ ranges: AddressRanges,
    _ survey: ELFRelocations.Survey?
  ) {
    (self.file, self.machine, self.ranges) = (file, machine, ranges)
    self.survey = survey
    copyType = machine.relocationTypes?.copy
    format = header.format
    areCombined = header.isObject
    kept.reserveCapacity(16)
  }

  /// Reads one table.
  mutating func collect(_ table: ELFRelocationTable) throws(ImageError) {
    switch table.encoding {
    case .rela where machine.hasRawInfo, .rel where machine.hasRawInfo: try collectRaw(table)
    case .rela: try collectExplicit(table)
    case .rel: try collectInPlace(table)
    case .relr: try collectBitmaps(table)
    case .crel: try collectDifferences(table)
    case .androidRela, .androidRel: try collectGroups(table)
    }
  }

  /// Sorts what was found, once all tables are read.
  mutating func settle() {
    kept.settle(areCombined: areCombined)
    copies.settle(areCombined: false)
  }

  // MARK: - Tables of entries

  private mutating func collectExplicit(_ table: ELFRelocationTable) throws(ImageError) {
    let rows = ELFTable(.rela, table.bytes, of: file, format)
    for index in 0..<rows.count {
      let row = try rows.row(index)
      let (symbol, type) = machine.split(row.r_info)
      consider(
        row.r_offset, symbol: symbol, type: type, UInt64(bitPattern: row.r_addend), .rela)
    }
  }

  private mutating func collectInPlace(_ table: ELFRelocationTable) throws(ImageError) {
    let rows = ELFTable(.rel, table.bytes, of: file, format)
    for index in 0..<rows.count {
      let row = try rows.row(index)
      let (symbol, type) = machine.split(row.r_info)
      consider(row.r_offset, symbol: symbol, type: type, 0, .rel)
    }
  }

  /// Keeps a relocation if it falls into a range, or copies data.
  @inline(__always)
  mutating func consider(
    _ place: UInt64, symbol: UInt32, type: UInt32, _ addend: UInt64, _ form: ELFRelocation.Form
  ) {
    survey?.consider(place, symbol: symbol, type: type, addend, form)
    let isWanted = ranges.contains(place)
    let isCopy = type == copyType
    // Type 0 asks for nothing on every machine; a bitmap has no types.
    guard isWanted || isCopy, type != 0 || form == .relr else { return }
    let signed =
      format.bits == 64 ? Int64(bitPattern: addend) : Int64(Int32(truncatingIfNeeded: addend))
    let relocation = ELFRelocation(
      place: place, addend: signed, symbol: symbol, type: type, form: form)
    if isCopy { copies.keep(relocation, areCombined: false) }
    if isWanted { kept.keep(relocation, areCombined: areCombined) }
  }
}

extension ELFRelocations {
  /// What all relocations together name, call and write to, whatever is asked about. Each symbol that they name may be
  /// a function that chooses an address.
  struct Survey {
    /// More than any file has.
    static let most = 1 << 16
    private static let mostTypes = 1 << 8

    /// `R_*_IRELATIVE` and `R_*_COPY`; nil on machines without.
    private let chosen, copy: UInt32?
    /// Where nothing that is written is to begin, and no copy.
    private let forbidden, forbiddenToCopies: AddressRanges
    /// Where the functions are that choose addresses: their own, or places that hold these.
    private(set) var addends: Set<UInt64> = [], places: Set<UInt64> = []
    private(set) var symbols: Set<UInt32> = []
    private(set) var types: Set<UInt32> = []
    /// The first place that is written all the same.
    private(set) var forbiddenPlace: UInt64?
    private var lastType: UInt32 = 0

    init(
      of types: ELFMachine.RelocationTypes?, forbidden: AddressRanges,
      toCopies forbiddenToCopies: AddressRanges
    ) {
      (chosen, copy) = (types?.chosen, types?.copy)
      (self.forbidden, self.forbiddenToCopies) = (forbidden, forbiddenToCopies)
    }

    /// Whether what is written from `start` up to `end` may matter.
    func mayConcern(_ start: UInt64, _ end: UInt64) -> Bool {
      forbiddenPlace == nil && forbidden.mayOverlap(start, end)
    }

    fileprivate mutating func consider(
      _ place: UInt64, symbol: UInt32, type: UInt32, _ addend: UInt64, _ form: ELFRelocation.Form
    ) {
      // Type 0 asks for nothing on every machine; a bitmap has no types.
      let isBitmap = form == .relr
      if forbiddenPlace == nil, type != 0 || isBitmap, forbidden.contains(place),
        type != copy || forbiddenToCopies.contains(place)
      {
        forbiddenPlace = place
      }
      if symbol != 0 { symbols.insert(symbol) }
      if type != lastType, types.count < Self.mostTypes {
        types.insert(type)
        lastType = type
      }
      guard type == chosen, addends.count + places.count <= Self.most else { return }
      if form == .rela { addends.insert(addend) } else { places.insert(place) }
    }
  }
}

extension [ELFRelocation] {
  /// Appends, and forgets repeated places as soon as they could pile up.
  fileprivate mutating func keep(_ relocation: ELFRelocation, areCombined: Bool) {
    if count == capacity, count >= 1 << 16 { settle(areCombined: areCombined) }
    append(relocation)
  }

  /// Sorts by place; of several at one place the last counts, as for the loader.
  fileprivate mutating func settle(areCombined: Bool) {
    settle(by: \.place) { earlier, later in
      earlier = later
      earlier.isCombined = areCombined
    }
  }
}

/// What was found out about the relocations of one file.
struct ELFRelocationTables {
  /// The sections whose pointers are asked for.
  var wanted = WantedSections()
  /// Of a linked file: what covers the wanted sections.
  var linked: Result<ELFRelocations, ImageError>?
  /// Of an object: what applies to a section, by its index.
  var bySection: [Int: Result<ELFRelocations, ImageError>] = [:]
  /// Of an object: the relocation sections, by the index of the section that they apply to.
  var sections: [Int: [Int]]?
  /// Of an object: the symbol tables by their index.
  var symbols: [Int: ELFSymbols] = [:]
}

/// Where relocations are found: `PT_DYNAMIC` of linked files, `SHT_REL*` of objects.
extension ELFFile {
  /// The relocation that writes the word `offset` bytes into a section of a linked file.
  func linkedRelocation(
    at offset: UInt64, in section: Section
  ) throws(ImageError) -> ELFRelocation? {
    // The loader relocates what it maps, and nothing else.
    guard section.isMapped else { return nil }
    let (place, overflow) = section.address.rawValue.addingReportingOverflow(offset)
    try file.check(!overflow, .malformed, "The section wraps around.", section: section.name)
    let range = place..<place.saturating(adding: UInt64(header.wordSize))
    if let known = try relocations.linked?.get(), known.ranges.covers(range) {
      return known.relocation(at: place)
    }
    relocations.wanted.insert(section)
    let (wanted, isFirst) = (relocations.wanted.list, relocations.linked == nil)
    let collected = Result<ELFRelocations, ImageError> { () throws(ImageError) in
      let dynamic = try dynamic()
      let tables = dynamic?.relocations ?? []
      let size = tables.reduce(UInt64(0)) { $0.saturating(adding: $1.bytes.size) }
      return try ELFRelocations(
        of: file, header, machine, in: tables, globalOffsets: dynamic?.globalOffsets,
        // Few are kept, all of them, once they are read again for another section.
        ranges: isFirst || size > Self.fewRelocations ? AddressRanges(of: wanted) : .all)
    }
    relocations.linked = collected
    return try collected.get().relocation(at: place)
  }

  /// What the relocations that are applied when the file is loaded name, call and write to.
  ///
  /// Throws where one writes to the dynamic section: what the loader finds there is not what the file says.
  func surveyRelocations() throws(ImageError) -> ELFRelocations.Survey {
    let dynamic = try dynamic()
    let own = dynamic?.addresses ?? 0..<0
    // A word that begins before it may reach into it; a copy is as wide as its symbol.
    let start = own.lowerBound - min(own.lowerBound, UInt64(header.wordSize - 1))
    let isCodeKept = dynamic?.relocatesCode == false
    let kept = isCodeKept ? try segments().unwritable : []
    let survey = ELFRelocations.Survey(
      of: machine.relocationTypes, forbidden: AddressRanges(kept + [start..<own.upperBound]),
      toCopies: AddressRanges(kept + [own]))
    let tables = if let dynamic { dynamic.relocations } else { try loadedRelocations() }
    // What is wanted already is found in the same pass.
    let isFirst = relocations.linked == nil && dynamic != nil && dynamic?.globalOffsets == nil
    let found = try ELFRelocations(
      of: file, header, machine, in: tables,
      ranges: isFirst ? AddressRanges(of: relocations.wanted.list) : AddressRanges([]),
      survey: survey)
    if isFirst { relocations.linked = .success(found) }
    var rewriting = found.survey?.forbiddenPlace
      .flatMap { start..<own.upperBound ~= $0 ? $0 : nil }
    if let copy = found.copy(notAfter: own.lowerBound),
      let symbol = try dynamic?.symbols?.symbol(copy.symbol),
      own.lowerBound - copy.place < symbol.size
    {
      rewriting = copy.place
    }
    if let rewriting {
      throw file.error(
        .malformed,
        "It rewrites its own dynamic section: a relocation writes to \(rewriting.hexadecimal), so the loader finds "
          + "other things there than the file says.")
    }
    return found.survey ?? survey
  }

  /// What a file without a dynamic section relocates itself.
  private func loadedRelocations() throws(ImageError) -> [ELFRelocationTable] {
    let table = try sectionTable()
    let entries = sectionIndices.map { table[$0] }.filter {
      $0.isLoaded && $0.sh_size > 0 && Self.encodings[$0.sh_type] != nil
    }
    try guardian.admit(entries.lazy.map(\.sh_size), of: "relocations")
    return entries.map {
      ELFRelocationTable(encoding: Self.encodings[$0.sh_type] ?? .rela, .stored($0.extent))
    }
  }

  /// In bytes of their tables.
  private static let fewRelocations: UInt64 = 1 << 12

  /// The relocations of one section of an object, and of no other.
  func relocations(ofObjectSection section: Section) throws(ImageError) -> ELFRelocations {
    if let known = relocations.bySection[section.index] { return try known.get() }
    let collected = Result<ELFRelocations, ImageError> { () throws(ImageError) in
      var tables: [ELFRelocationTable] = []
      for index in try relocationSections()[section.index] ?? [] {
        let entry = try sectionHeader(index)
        let encoding = Self.encodings[entry.sh_type] ?? .rela
        tables.append(ELFRelocationTable(encoding: encoding, try tableBytes(index)))
      }
      return try ELFRelocations(
        of: file, header, machine, in: tables, ranges: AddressRanges([0..<section.size]))
    }
    relocations.bySection[section.index] = collected
    return try collected.get()
  }

  /// The relocation sections of an object by the section that they apply to.
  private func relocationSections() throws(ImageError) -> [Int: [Int]] {
    if let known = relocations.sections { return known }
    var tables: [Int: [Int]] = [:]
    var sizes: [UInt64] = []
    for index in sectionIndices {
      let entry = try sectionHeader(index)
      guard Self.encodings[entry.sh_type] != nil else { continue }
      tables[Int(entry.sh_info), default: []].append(index)
      sizes.append(entry.sh_size)
    }
    try guardian.admit(sizes, of: "relocation sections")
    relocations.sections = tables
    return tables
  }

  /// How a section of relocations is encoded, by its type; `SHT_CREL` is too new for libelf.
  static let encodings: [UInt32: ELFRelocationTable.Encoding] = [
    UInt32(SHT_REL): .rel, UInt32(SHT_RELA): .rela, 0x4000_0014: .crel,
  ]

  /// The symbols that the relocations of a section name.
  func symbols(for section: Section) throws(ImageError) -> ELFSymbols? {
    guard header.isObject else { return try dynamic()?.symbols }
    guard let first = try relocationSections()[section.index]?.first else { return nil }
    let index = Int(try sectionHeader(first).sh_link)
    if let known = relocations.symbols[index] { return known }
    let table = try sectionHeader(index)
    let names = try sectionHeader(Int(table.sh_link))
    try file.check(
      table.sh_type == UInt32(SHT_SYMTAB) && names.sh_type == UInt32(SHT_STRTAB), .malformed,
      "The relocations name symbols of a section that holds none.", section: section.name)
    let symbols = ELFSymbols(
      self, try tableBytes(index), names: try tableBytes(Int(table.sh_link)),
      longIndices: try longIndices(of: index))
    relocations.symbols[index] = symbols
    return symbols
  }
}
