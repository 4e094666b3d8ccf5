internal import CElf

/// One relocation: what the linker asks the loader, or a later linker, to write at a place.
struct ELFRelocation {
  /// The forms of relocations.
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
  /// `r_addend`; meaningless if the addend is in place.
  var addend: Int64
  /// The symbol's number, or 0.
  var symbol: UInt32
  /// The machine's number for the kind of relocation.
  var type: UInt32
  /// The form of the relocation.
  var form: Form
  /// Whether several relocations of an object together make the word.
  var isCombined = false
}

/// The encoding and the bytes of a table of relocations.
struct ELFRelocationTable {
  /// The encoding of the entries.
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

  /// The encoding of the entries.
  var encoding: Encoding
  /// The bytes of the entries.
  var bytes: ELFBytes
}

/// The relocations that fall into some ranges, and the copies, found in one pass over the tables.
final class ELFRelocations {
  private let found: ELFRelocationCollector

  /// Collects the relocations of `ranges` in `tables`, and those that the loader does without tables.
  init(
    of file: OpenedFile, _ header: ELFHeader, _ machine: ELFMachine,
    in tables: [ELFRelocationTable], globalOffsets: ELFGlobalOffsets? = nil, ranges: AddressRanges,
    survey: Survey? = nil
  ) throws(ImageError) {
    var found = ELFRelocationCollector(of: file, header, machine, ranges, survey)
    if let globalOffsets { try found.collect(globalOffsets) }
    for table in tables { try found.collect(table) }
    try found.settle()
    self.found = found
  }

  /// The ranges that were examined.
  var ranges: AddressRanges { found.ranges }
  /// The facts about all relocations; nil if nobody wanted them.
  var survey: Survey? { found.survey }

  /// Returns the relocation that writes the word at `place`.
  func relocation(at place: UInt64) -> ELFRelocation? { found.kept.element(at: place, by: \.place) }

  /// Returns the first written place at or after another; nil if there is none.
  func place(notBefore place: UInt64) -> UInt64? {
    let next = found.kept.sortedIndex(where: { $0.place >= place })
    return next < found.kept.count ? found.kept[next].place : nil
  }

  /// Returns the relocations from one place up to another.
  func relocations(from start: UInt64, to end: UInt64) -> ArraySlice<ELFRelocation> {
    let first = found.kept.sortedIndex(where: { $0.place >= start })
    return found.kept[first...].prefix { $0.place < end }
  }

  /// The copies, by their places.
  var copies: [ELFRelocation] { found.copies }

  /// Returns the last copy that starts at or before `address`. Its symbol tells how far it reaches.
  func copy(notAfter address: UInt64) -> ELFRelocation? {
    found.copies.last(notAfter: address, by: \.place).map { found.copies[$0] }
  }
}

/// A reader of relocation tables that keeps the relocations of some ranges.
///
/// A library may have millions of relocations and three sections that matter: tables are read in chunks, and only the
/// relocations in the ranges are kept.
struct ELFRelocationCollector {
  /// The ranges to keep relocations of.
  let ranges: AddressRanges
  private(set) var kept: [ELFRelocation] = []
  private(set) var copies: [ELFRelocation] = []
  /// The most relocations to keep: packed ones need no bytes of their own, but each writes a word of the file.
  let most: Int
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
    most = Int(clamping: min(file.size / 4, max(1 << 20, file.allocatedSize)))
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

  /// Sorts the relocations that were found, once all tables are read.
  mutating func settle() throws(ImageError) {
    kept.settle(areCombined: areCombined)
    try file.check(
      kept.count <= most, .malformed,
      "The relocations write more than \(most) words, which are more than the file stores.")
    copies.settle(areCombined: false)
  }

  // MARK: - Tables of entries

  private mutating func collectExplicit(_ table: ELFRelocationTable) throws(ImageError) {
    let rows = ELFTable(.rela, table.bytes, of: file, format)
    for index in 0..<rows.count {
      let row = try rows.row(index)
      let (symbol, type) = machine.split(row.r_info)
      consider(row.r_offset, symbol: symbol, type: type, UInt64(bitPattern: row.r_addend), .rela)
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
    // Type 0 does nothing on any machine; a bitmap has no types.
    guard isWanted || isCopy, type != 0 || form == .relr else { return }
    let signed =
      format.bits == 64 ? Int64(bitPattern: addend) : Int64(Int32(truncatingIfNeeded: addend))
    let relocation = ELFRelocation(
      place: place, addend: signed, symbol: symbol, type: type, form: form)
    if isCopy { copies.keep(relocation, areCombined: false) }
    if isWanted, kept.count <= most { kept.keep(relocation, areCombined: areCombined) }
  }
}

extension ELFRelocations {
  /// The symbols, calls and written places of all relocations together, in all ranges. Each symbol that they name may
  /// be a function that chooses an address.
  struct Survey {
    /// More functions that choose addresses than any file has.
    static let most = 1 << 16
    private static let mostTypes = 1 << 8

    /// `R_*_IRELATIVE` and its like; nil on machines without.
    private let chosen: ELFMachine.Types?
    /// `R_*_COPY`, `R_*_JUMP_SLOT`.
    private let copy, call: UInt32?
    /// The ranges where no write may begin, and where no copy may begin.
    private let forbidden, forbiddenToCopies: AddressRanges
    /// The slots of functions that the loader calls when the file is opened: `DT_INIT_ARRAY`.
    private let startup: Range<UInt64>
    /// The symbols in these slots.
    private(set) var started: Set<UInt32> = []
    /// The addresses of functions that choose addresses, and the places that hold such addresses.
    private(set) var addends: Set<UInt64> = [], places: Set<UInt64> = []
    private(set) var symbols: Set<UInt32> = []
    /// The symbols that are called through a table.
    private(set) var called: Set<UInt32> = []
    private(set) var types: Set<UInt32> = []
    /// The first forbidden place that is written.
    private(set) var forbiddenPlace: UInt64?
    private var lastType: UInt32 = 0

    init(
      of types: ELFMachine.RelocationTypes?, forbidden: AddressRanges,
      toCopies forbiddenToCopies: AddressRanges, startup: Range<UInt64>
    ) {
      self.startup = startup
      (chosen, copy, call) = (types?.chosen, types?.copy, types?.table.last)
      (self.forbidden, self.forbiddenToCopies) = (forbidden, forbiddenToCopies)
    }

    /// Returns whether writes from `start` up to `end` may matter.
    func mayConcern(_ start: UInt64, _ end: UInt64) -> Bool {
      forbiddenPlace == nil && forbidden.mayOverlap(start, end)
    }

    fileprivate mutating func consider(
      _ place: UInt64, symbol: UInt32, type: UInt32, _ addend: UInt64, _ form: ELFRelocation.Form
    ) {
      // Type 0 does nothing on any machine; a bitmap has no types.
      let isBitmap = form == .relr
      if forbiddenPlace == nil, type != 0 || isBitmap, forbidden.contains(place),
        type != copy || forbiddenToCopies.contains(place)
      {
        forbiddenPlace = place
      }
      if symbol != 0 { symbols.insert(symbol) }
      if type == call { called.insert(symbol) }
      if startup.contains(place) { started.insert(symbol) }
      if type != lastType, types.count < Self.mostTypes {
        types.insert(type)
        lastType = type
      }
      guard chosen?.contains(type) == true, addends.count + places.count <= Self.most else {
        return
      }
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

  /// Sorts by place. Of several at one place the last counts, as for the loader, unless it adds to the word.
  fileprivate mutating func settle(areCombined: Bool) {
    settle(by: \.place) { earlier, later in
      earlier = later
      earlier.isCombined = areCombined || later.form != .rela
    }
  }
}
