internal import CElf

/// What hides entries without ending the file early: headers that contradict what else it says.
///
/// One wrong byte in a header can rename a section, shorten it, or lead to other bytes; what would
/// have been found is then silently not there. Linkers write most of it twice, and this compares.
extension ELFFile {
  /// Throws where the file ends before a segment, a section or a table of headers does, or where
  /// the section table contradicts what else the file says.
  package func checkDeclared() throws(ImageError) {
    try file.check(
      header.sections.isComplete, .truncated, "The file ends before its section headers do.",
      at: header.sections.offset)
    // Split debug information keeps the program headers of the file that it was split from.
    if let extent = try segments().extent(notWithin: file), !hasOnlyDebugInformation {
      throw file.error(
        .truncated, "The file ends before the \(extent.size) bytes of a segment do.",
        at: extent.offset)
    }
    guard hasSectionHeaders else { return }
    let table = try sectionTable()
    for index in sectionIndices {
      let section = table[index]
      guard section.hasContents else { continue }
      try file.check(
        file.holds(section.offset, section.size), .truncated,
        "The file ends before the \(section.size) bytes of a section do.",
        section: table.name(of: index), at: section.offset)
    }
    try checkContradictions()
  }

  /// Throws where the section table contradicts itself, the segments, the relocations or the note.
  private func checkContradictions() throws(ImageError) {
    let table = try sectionTable()
    try table.checkNames(of: file)
    try checkTypes(table)
    if header.isObject {
      try checkRelocatedNames(table)
      guard !relocations.wanted.list.isEmpty else { return }
      try file.checkRelocatedSizes(of: relocations.wanted.list) { section throws(ImageError) in
        try relocations(ofObjectSection: section).furthest
      }
      try checkOverlaps(table)
    } else {
      try checkNotedExtents(table)
      try checkMappings(table)
    }
  }

  /// Entries are in sections that the program defines, not in tables of the linker's;
  /// machines and systems have types of their own for those.
  private func checkTypes(_ table: ELFSectionTable) throws(ImageError) {
    for section in relocations.wanted.list where SectionNote.names.contains(section.name) {
      let entry = table[section.index]
      let type = entry.type
      guard entry.hasContents, type != UInt32(SHT_PROGBITS), type < UInt32(SHT_LOOS) else {
        continue
      }
      throw file.error(
        .malformed, "The section is of type \(type), which holds no entries.",
        section: section.name, at: file.place(of: section))
    }
  }

  // MARK: - Objects

  /// `.rela` and the like before the names of this project's sections.
  private static let relocationNames = ELFSectionTable.Names(
    SectionNote.names.flatMap { name in [".rela", ".rel", ".crel"].map { $0 + name } })

  /// The relocations of a section carry its name: one that is called otherwise was renamed.
  private func checkRelocatedNames(_ table: ELFSectionTable) throws(ImageError) {
    var renamed: (section: Int, name: String)?
    table.forEach(named: Self.relocationNames) { index, name in
      // The first will do: there may be many, and the names may be long.
      guard renamed == nil else { return }
      let expected = SectionNote.names[name / 3]
      if !table.name(of: table[index].info, is: Array(expected.utf8)) {
        renamed = (index, expected)
      }
    }
    guard let renamed else { return }
    throw file.error(
      .malformed,
      "Section \(renamed.section) relocates \(renamed.name), but leads to a section that is called "
        + "otherwise.", section: renamed.name)
  }

  /// Sections of an object share no bytes, and are where their alignment lets them.
  private func checkOverlaps(_ table: ELFSectionTable) throws(ImageError) {
    var extents: [OpenedFile.Extent] = []
    for index in sectionIndices where table[index].hasContents && table[index].size > 0 {
      extents.append(OpenedFile.Extent(index, table[index].extent))
    }
    try file.checkOverlaps(extents, wanted: relocations.wanted.list) { table.name(of: $0) }
    for section in relocations.wanted.list where section.size > 0 {
      let alignment = table[section.index].alignment
      guard alignment > 1, let offset = file.place(of: section), offset % alignment != 0 else {
        continue
      }
      throw file.error(
        .malformed, "The section does not start at a multiple of \(alignment), its alignment.",
        section: section.name, at: offset)
    }
  }

  // MARK: - Linked files

  /// The note tells where the entries are too: the table must not have lost some of them.
  private func checkNotedExtents(_ table: ELFSectionTable) throws(ImageError) {
    // A note that is of no use is none; the section table is there.
    guard let noted = try? notedSections.get() else { return }
    var ranges: [[Range<UInt64>]] = SectionNote.names.map { _ in [] }
    table.forEach(named: .ofThisProject) { ranges[$1].append(table[$0].addresses) }
    for section in noted {
      let start = section.address.rawValue
      let end = start.saturating(adding: section.size)
      guard let name = SectionNote.names.firstIndex(of: section.name),
        !AddressRanges(ranges[name]).covers(start..<end)
      else { continue }
      throw file.error(
        .malformed,
        "The note says that entries are at \(start.hexadecimal) to \(end.hexadecimal), where "
          + "the section table has no such section.", section: section.name,
        at: file.place(of: section))
    }
    for (name, ranges) in zip(SectionNote.names, ranges) where !ranges.isEmpty {
      let known = AddressRanges(of: noted.filter { $0.name == name })
      guard let lost = ranges.first(where: { !$0.isEmpty && !known.covers($0) }) else { continue }
      throw file.error(
        .malformed,
        "Entries are at \(lost.lowerBound.hexadecimal) to \(lost.upperBound.hexadecimal), which the note leaves out: "
          + "a process does not see them. Link the objects anew, without -r or with another linker.",
        section: name)
    }
  }

  /// What the loader maps at the address of a section are the bytes that its header leads to.
  private func checkMappings(_ table: ELFSectionTable) throws(ImageError) {
    let segments = try segments()
    for section in relocations.wanted.list where section.size > 0 && header.segments.count > 0 {
      guard let offset = file.place(of: section), table[section.index].isLoaded,
        segments.extent(from: section.address)?.offset != offset, !hasOnlyDebugInformation
      else { continue }
      throw file.error(
        .malformed,
        "The section's header leads to other bytes than the loader maps at its address, "
          + "\(section.address.rawValue.hexadecimal).", section: section.name, at: offset)
    }
  }
}
