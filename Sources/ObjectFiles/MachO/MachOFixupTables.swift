internal import BinaryImage

/// What was found out about the fixups and relocations of one file.
struct MachOFixupTables {
  /// The sections whose pointers are asked for.
  var wanted = WantedSections()
  /// Of `LC_DYLD_CHAINED_FIXUPS`.
  var chains: MachOChains?
  /// Of other linked files: what covers the wanted sections.
  var linked: Result<any MachOLinkedFixups, ImageError>?
  /// Of an object: what applies to a section, by its ordinal.
  var byOrdinal: [Int: Result<MachORelocations, ImageError>] = [:]
}

/// What the loader writes into some ranges of a linked file.
protocol MachOLinkedFixups {
  /// What was looked at.
  var ranges: AddressRanges { get }
  /// What the loader does to the word at `place`; nil where it leaves it alone.
  func fixup(at place: UInt64) -> MachOFixup?
  /// The last word of a range that the loader writes; nil where it writes none.
  func lastFixup(in range: Range<UInt64>) -> UInt64?
}

/// Where fixups are found: chains, programs or relocations, by the age of the file.
extension MachOFile {
  /// What the loader does to the word at `place` of a linked file, which holds `raw`.
  func fixup(
    at place: UInt64, raw: UInt64, in section: Section
  ) throws(ImageError) -> MachOFixup? {
    guard var chains = try chains() else {
      return try linkedFixups(at: place, in: section)?.fixup(at: place)
    }
    defer { fixups.chains = chains }
    return try chains.fixup(at: place, raw: raw, segments(), of: file)
  }

  /// The last word of a section of a linked file that the loader writes; nil where it writes none.
  func lastFixup(in section: Section) throws(ImageError) -> UInt64? {
    let start = section.address.rawValue
    let range = start..<start.saturating(adding: section.size)
    guard var chains = try chains() else {
      return try linkedFixups(at: start, in: section)?.lastFixup(in: range)
    }
    defer { fixups.chains = chains }
    return try chains.lastFixup(in: range, segments(), of: file)
  }

  /// The chains, taken out so that they are walked in place: a copy of the page would be made
  /// otherwise. Nil where the file has none.
  private func chains() throws(ImageError) -> MachOChains? {
    guard let extent = try commands().chainedFixups, extent.size > 0 else { return nil }
    guard let known = fixups.chains else { return try MachOChains(of: file, header, at: extent) }
    fixups.chains = nil
    return known
  }

  /// What covers the word at `place`, and all other wanted ones; nil where the file has neither
  /// programs nor relocations.
  private func linkedFixups(
    at place: UInt64, in section: Section
  ) throws(ImageError) -> (any MachOLinkedFixups)? {
    let commands = try commands()
    guard
      commands.dyldInfo != nil
        || (commands.chainedFixups == nil && commands.classicRelocations != nil)
    else { return nil }
    let range = place..<place.saturating(adding: UInt64(header.wordSize))
    if let known = try fixups.linked?.get(), known.ranges.covers(range) { return known }
    fixups.wanted.insert(section)
    let ranges = AddressRanges(of: fixups.wanted.list)
    let found = Result<any MachOLinkedFixups, ImageError> { () throws(ImageError) in
      if let info = commands.dyldInfo {
        return try MachOFixups(of: file, header, segments(), info, ranges: ranges)
      }
      let countsFromWritable = header.machine.countsFromWritableSegment || header.hasSplitSegments
      let origin = try segments().list.first { $0.isWritable || !countsFromWritable }
      return try MachORelocations(
        of: file, header, in: commands.classicRelocations ?? [], ranges: ranges,
        origin: origin?.address ?? 0)
    }
    fixups.linked = found
    return try found.get()
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
