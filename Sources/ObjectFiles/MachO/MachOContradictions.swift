package import BinaryImage

/// What hides entries without ending the file early: load commands that contradict what else the
/// file says.
///
/// One wrong byte in a command can lose a segment, shorten a section, or lead to other bytes; what
/// would have been found is then silently not there. The name of a section is nowhere else in
/// the file: one that is called otherwise is another section.
extension MachOFile {
  /// Throws where the file ends before a segment, a section or a table of the loader does, or where
  /// the load commands contradict what else the file says.
  package func checkDeclared() throws(ImageError) {
    let commands = try commands.get()
    func check(_ what: String, _ offset: UInt64, _ size: UInt64) throws(ImageError) {
      try file.check(
        size == 0 || file.holds(offset, size), .truncated, "The file ends before \(what) does.",
        at: offset)
    }
    for segment in commands.segments {
      let name = segment.name.isEmpty ? "its segment" : "segment \(segment.name)"
      try check(name, segment.offset, segment.fileSize)
    }
    for section in commands.sections {
      let name = "section \(section.segment),\(section.name)"
      if let offset = section.offset { try check(name, offset, section.size) }
      try check("what relocates \(name)", section.relocationOffset, section.relocationCount * 8)
    }
    if let symbols = commands.symbols {
      try check("the symbol table", symbols.offset, symbols.count * UInt64(header.symbolSize))
    }
    let tables =
      [("what names the symbols", commands.symbols?.names)]
      + (commands.dyldInfo?.programs ?? []).map { ("what the loader is told", $0) }
      + [("the table of chained fixups", commands.chainedFixups)]
      + (commands.classicRelocations ?? []).map { ("the table of relocations", $0) }
      + [("the indirect symbol table", commands.indirectSymbols)]
    for case (let what, let table?) in tables { try check(what, table.offset, table.size) }
    try checkContradictions()
  }

  /// Throws where the segments, the sections and what relocates them contradict each other.
  private func checkContradictions() throws(ImageError) {
    let commands = try commands.get()
    if header.isObject {
      try file.check(
        !commands.segments.isEmpty, .malformed,
        "The object has no segment, which would hold its sections.")
      try file.checkRelocatedSizes(of: fixups.wanted.list) { section throws(ImageError) in
        try relocations(ofObjectSection: section).furthest
      }
      try checkOverlaps(commands)
    } else if header.isLinked {
      try checkHoles()
      try checkMappings(commands)
      try checkFixupsBehind(commands)
    }
  }

  // MARK: - Objects

  /// Sections of an object share no bytes.
  private func checkOverlaps(_ commands: MachOCommands) throws(ImageError) {
    guard !fixups.wanted.list.isEmpty else { return }
    let extents = commands.sections.enumerated().compactMap { index, section in
      guard let offset = section.offset, section.size > 0 else { return OpenedFile.Extent?.none }
      return OpenedFile.Extent(index + 1, FileExtent(offset: offset, size: section.size))
    }
    try file.checkOverlaps(extents, wanted: fixups.wanted.list) { commands.sections[$0 - 1].name }
  }

  // MARK: - Linked files

  /// How much of a hole is looked at, and of all of them: a lost segment starts with what it is for.
  private static let mostOfHole: UInt64 = 1 << 16, mostOfHoles: UInt64 = 1 << 20

  /// Between the segments of a linked file are only zeros: a segment was lost otherwise.
  private func checkHoles() throws(ImageError) {
    // This refuses more segments than any file has.
    let stored = try segments.get().list.filter { $0.fileSize > 0 }.sorted { $0.offset < $1.offset }
    // Each hole gets its share, so that none is left out.
    let most = min(Self.mostOfHole, Self.mostOfHoles / UInt64(max(1, stored.count)))
    var end: UInt64 = 0
    for segment in stored {
      if segment.offset > end, file.holds(end, segment.offset - end) {
        let size = min(segment.offset - end, most)
        try file.check(
          file.read(at: end, count: Int(size)).allSatisfy({ $0 == 0 }), .malformed,
          "No segment holds the bytes up to \(segment.offset.hexadecimal), which are not empty.",
          at: end)
      }
      end = max(end, segment.offset.saturating(adding: segment.fileSize))
    }
  }

  /// The sections of a linked file lie in their segments, in memory as in the file.
  private func checkMappings(_ commands: MachOCommands) throws(ImageError) {
    let wanted = Set(fixups.wanted.list.map(\.index))
    for (index, section) in commands.sections.enumerated() {
      guard let offset = section.offset, section.size > 0 else { continue }
      let segment = commands.segments[section.owner]
      // No loader maps what takes no memory, as the debug information that Go's linker puts there:
      // its sections keep the addresses that they had.
      guard segment.memorySize > 0 || wanted.contains(index + 1) else { continue }
      let distance = section.address &- segment.address
      try file.check(
        section.address >= segment.address && distance <= segment.mappedSize
          && section.size <= segment.mappedSize - distance
          && offset == segment.offset.saturating(adding: distance), .malformed,
        "The section lies outside the segment \(segment.name), or leads to other bytes than the "
          + "loader maps at its address, \(section.address.hexadecimal).", section: section.name,
        at: offset)
    }
  }

  /// Right behind a section, up to the next one, the loader fixes up nothing: it was shortened.
  private func checkFixupsBehind(_ commands: MachOCommands) throws(ImageError) {
    let gaps = gaps(commands)
    // One pass over the tables serves all of them.
    for gap in gaps { fixups.wanted.insert(gap) }
    for gap in gaps {
      // What hinders reading fixups was told for each word of the section.
      guard let place = try? lastFixup(in: gap) else { continue }
      throw file.error(
        .malformed,
        "The loader fixes up a word at \(place.hexadecimal), behind the section's end, where no "
          + "section is.", section: gap.name, at: file.place(of: gap))
    }
  }

  /// What is behind the wanted sections and in no other, in the order of the addresses; no word
  /// is in two of them.
  private func gaps(_ commands: MachOCommands) -> [Section] {
    guard !fixups.wanted.list.isEmpty else { return [] }
    let filled = commands.sections.filter { $0.size > 0 }
      .sorted { ($0.owner, $0.address) < ($1.owner, $1.address) }
    var (gaps, covered): ([Section], UInt64) = ([], 0)
    for section in fixups.wanted.list.sorted(by: { $0.address.rawValue < $1.address.rawValue }) {
      guard let gap = gap(behind: section, from: covered, filled, commands) else { continue }
      covered = gap.address.rawValue.saturating(adding: gap.size)
      gaps.append(gap)
    }
    return gaps
  }

  /// The words behind a section that no other holds, at most a page of them, and none below
  /// `covered`; nil where there are none. `filled` are the sections with contents, sorted.
  private func gap(
    behind section: Section, from covered: UInt64, _ filled: [MachOSection],
    _ commands: MachOCommands
  ) -> Section? {
    guard commands.sections.indices.contains(section.index - 1),
      let offset = section.offset?.rawValue
    else { return nil }
    let word = UInt64(header.wordSize)
    let entry = commands.sections[section.index - 1]
    let segment = commands.segments[entry.owner]
    let mask = ~(word - 1)
    let end = entry.address.saturating(adding: entry.size).saturating(adding: word - 1) & mask
    guard entry.address <= end else { return nil }
    // Where a section is full, the next one is behind its start.
    let next = entry.size == 0 ? end : max(end, entry.address + 1)
    let following = filled.sortedIndex(where: { ($0.owner, $0.address) >= (entry.owner, next) })
    let follows = following < filled.count && filled[following].owner == entry.owner
    let stop = min(
      follows ? filled[following].address : .max,
      segment.address.saturating(adding: segment.fileSize),
      end.saturating(adding: 1 << 14))
    // Words are aligned, so what others cover ends with one.
    let start = max(end, covered)
    guard stop >= start, stop - start >= word else { return nil }
    return Section(
      index: section.index, name: section.name, segment: section.segment,
      address: VirtualAddress(rawValue: start),
      offset: FileOffset(rawValue: offset.saturating(adding: start - entry.address)),
      size: (stop - start) & mask)
  }
}
