internal import BinaryImage

/// What was found out about the fixups and relocations of one file.
struct MachOFixupTables {
  /// The sections whose pointers are asked for; one pass over the tables serves all of them.
  private(set) var wanted: [Section] = []
  private var names: Set<String> = []
  private var known: Set<Section> = []
  /// Of `LC_DYLD_CHAINED_FIXUPS`.
  var chains: MachOChains?
  /// Of `LC_DYLD_INFO`: what covers the wanted sections.
  var programs: Result<MachOFixups, ImageError>?
  /// Of older linked files: what covers the wanted sections.
  var classic: Result<MachORelocations, ImageError>?
  /// Of an object: what applies to a section, by its ordinal.
  var byOrdinal: [Int: Result<MachORelocations, ImageError>] = [:]

  /// Remembers all sections of one name.
  mutating func want(_ sections: [Section], named name: String) {
    if names.insert(name).inserted { sections.forEach { want($0) } }
  }

  /// Remembers one section.
  mutating func want(_ section: Section) {
    if known.insert(section).inserted { wanted.append(section) }
  }
}

/// Where fixups are found: chains, programs or relocations, by the age of the file.
extension MachOFile {
  /// What the loader does to the word at `place` of a linked file, which holds `raw`.
  func fixup(
    at place: UInt64, raw: UInt64, in section: Section
  ) throws(ImageError) -> MachOFixup? {
    if let extent = try commands().chainedFixups, extent.size > 0 {
      return try chainedFixup(at: place, raw: raw, extent)
    }
    let range = place..<place.saturating(adding: UInt64(header.wordSize))
    if let info = try commands().dyldInfo {
      if let known = try fixups.programs?.get(), known.ranges.covers(range) {
        return known.fixup(at: place)
      }
      fixups.want(section)
      let ranges = AddressRanges(of: fixups.wanted)
      let found = Result<MachOFixups, ImageError> { () throws(ImageError) in
        try MachOFixups(of: file, header, segments(), info, ranges: ranges)
      }
      fixups.programs = found
      return try found.get().fixup(at: place)
    }
    return nil
  }

  /// The chains, taken out so that they are walked in place: a copy of the page would be made
  /// otherwise.
  private func chains(at extent: FileExtent) throws(ImageError) -> MachOChains {
    guard let known = fixups.chains else { return try MachOChains(of: file, header, at: extent) }
    fixups.chains = nil
    return known
  }

  private func chainedFixup(
    at place: UInt64, raw: UInt64, _ extent: FileExtent
  ) throws(ImageError) -> MachOFixup? {
    var chains = try chains(at: extent)
    defer { fixups.chains = chains }
    return try chains.fixup(at: place, raw: raw, segments(), of: file)
  }

  /// The last word of a section of a linked file that the loader writes; nil where it writes none.
  func lastFixup(in section: Section) throws(ImageError) -> UInt64? {
    let start = section.address.rawValue
    let range = start..<start.saturating(adding: section.size)
    if let extent = try commands().chainedFixups, extent.size > 0 {
      var chains = try chains(at: extent)
      defer { fixups.chains = chains }
      return try chains.lastFixup(in: range, segments(), of: file)
    }
    // Looking up a word collects what falls into the section.
    if try commands().dyldInfo != nil {
      _ = try fixup(at: start, raw: 0, in: section)
      return try fixups.programs?.get().lastFixup(in: range)
    }
    _ = try classicRelocation(at: start, in: section)
    return try fixups.classic?.get().lastRelocation(in: range)
  }

  /// The relocation that writes the word at `place` of a linked file older than `LC_DYLD_INFO`.
  func classicRelocation(
    at place: UInt64, in section: Section
  ) throws(ImageError) -> MachORelocation? {
    guard try commands().dyldInfo == nil, try commands().chainedFixups == nil,
      let tables = try commands().classicRelocations
    else { return nil }
    let range = place..<place.saturating(adding: UInt64(header.wordSize))
    if let known = try fixups.classic?.get(), known.ranges.covers(range) {
      return known.relocation(at: place)
    }
    fixups.want(section)
    let ranges = AddressRanges(of: fixups.wanted)
    let found = Result<MachORelocations, ImageError> { () throws(ImageError) in
      let segments = try segments().list
      let countsFromWritable = header.machine.countsFromWritableSegment || header.hasSplitSegments
      let origin = segments.first { $0.isWritable || !countsFromWritable }
      return try MachORelocations(
        of: file, header, in: [tables.external, tables.local], ranges: ranges,
        origin: origin?.address ?? 0)
    }
    fixups.classic = found
    return try found.get().relocation(at: place)
  }

  /// The relocations of one section of an object, and of no other.
  func relocations(ofObjectSection section: Section) throws(ImageError) -> MachORelocations {
    if let known = fixups.byOrdinal[section.index] { return try known.get() }
    let found = Result<MachORelocations, ImageError> { () throws(ImageError) in
      let entry = try sectionEntry(section.index)
      let table = FileExtent(
        offset: entry.relocationOffset, size: entry.relocationCount * 8)
      guard file.holds(table.offset, table.size) else {
        throw file.error(
          .truncated, "The file ends before the section's relocations do.", section: section.name,
          at: table.offset)
      }
      return try MachORelocations(
        of: file, header, in: [table], ranges: AddressRanges([0..<section.size]))
    }
    fixups.byOrdinal[section.index] = found
    return try found.get()
  }
}
