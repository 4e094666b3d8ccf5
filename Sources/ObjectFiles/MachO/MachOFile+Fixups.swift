internal import BinaryImage

/// What was found out about the fixups and relocations of one file.
struct MachOFixupTables {
  /// The sections whose pointers are asked for.
  var wanted = WantedSections()
  /// Of a linked file: what covers the wanted sections.
  var linked: Result<(any MachOLinkedFixups)?, ImageError>?
  /// Of an object: what applies to a section, by its ordinal.
  var byOrdinal: [Int: Result<MachORelocations, ImageError>] = [:]
}

/// What the loader writes into some ranges of a linked file.
protocol MachOLinkedFixups {
  /// What was looked at.
  var ranges: AddressRanges { get }
  /// What the loader does to the word at `place`, which holds `raw`; nil where it leaves it alone.
  func fixup(at place: UInt64, raw: UInt64) throws(ImageError) -> MachOFixup?
  /// The last word of a range that the loader writes; nil where it writes none.
  func lastFixup(in range: Range<UInt64>) throws(ImageError) -> UInt64?
}

/// Where fixups are found: chains, programs or relocations, by the age of the file.
extension MachOFile {
  /// What the loader does to the word at `place` of a linked file, which holds `raw`.
  func fixup(at place: UInt64, raw: UInt64, in section: Section) throws(ImageError) -> MachOFixup? {
    try linkedFixups(at: place, in: section)?.fixup(at: place, raw: raw)
  }

  /// The last word of a section of a linked file that the loader writes; nil where it writes none.
  func lastFixup(in section: Section) throws(ImageError) -> UInt64? {
    let start = section.address.rawValue
    return try linkedFixups(at: start, in: section)?
      .lastFixup(in: start..<start.saturating(adding: section.size))
  }

  /// What covers the word at `place`, and all other wanted ones; nil where the file has neither
  /// chains, programs nor relocations.
  private func linkedFixups(
    at place: UInt64, in section: Section
  ) throws(ImageError) -> (any MachOLinkedFixups)? {
    let range = place..<place.saturating(adding: UInt64(header.wordSize))
    if let known = try fixups.linked?.get(), known.ranges.covers(range) { return known }
    let found = Result { () throws(ImageError) in try findLinkedFixups(with: section) }
    fixups.linked = found
    return try found.get()
  }

  private func findLinkedFixups(
    with section: Section
  ) throws(ImageError) -> (any MachOLinkedFixups)? {
    let commands = try commands.get()
    if let extent = commands.chainedFixups, extent.size > 0 {
      return try MachOChains(of: file, header, at: extent, segments)
    }
    fixups.wanted.insert(section)
    let ranges = AddressRanges(of: fixups.wanted.list)
    if let info = commands.dyldInfo {
      return try MachOFixups(of: file, header, segments.get(), info, ranges: ranges)
    }
    guard let extents = commands.classicRelocations, commands.chainedFixups == nil else {
      return nil
    }
    let countsFromWritable = header.machine.countsFromWritableSegment || header.hasSplitSegments
    let origin = try segments.get().list.first { $0.isWritable || !countsFromWritable }
    return try MachORelocations(
      of: file, header, in: extents, ranges: ranges, origin: origin?.address ?? 0)
  }

  /// The relocations of one section of an object, and of no other.
  func relocations(ofObjectSection section: Section) throws(ImageError) -> MachORelocations {
    if let known = fixups.byOrdinal[section.index] { return try known.get() }
    let found = Result<MachORelocations, ImageError> { () throws(ImageError) in
      let entry = try sectionEntry(section.index)
      let table = FileExtent(offset: entry.relocationOffset, size: entry.relocationCount * 8)
      try file.check(
        file.holds(table.offset, table.size), .truncated,
        "The file ends before the section's relocations do.", section: section.name,
        at: table.offset)
      return try MachORelocations(
        of: file, header, in: [table], ranges: AddressRanges([0..<section.size]))
    }
    fixups.byOrdinal[section.index] = found
    return try found.get()
  }
}
