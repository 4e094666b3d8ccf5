/// What the file declares, and whether it is there.
extension ELFFile {
  /// Throws where the file ends before a segment, a section or a table of headers does, or where
  /// the section table contradicts what else the file says.
  package func checkExtents() throws(ImageError) {
    try file.tellingChanges { () throws(ImageError) in try checkDeclared() }
    try file.checkUnchanged()
  }

  private func checkDeclared() throws(ImageError) {
    guard header.sections.isComplete else {
      throw file.error(
        .truncated, "The file ends before its section headers do.", at: header.sections.offset)
    }
    // Split debug information keeps the program headers of the file that it was split from.
    if let extent = try segments().extent(notWithin: file.size), !hasOnlyDebugInformation {
      throw file.error(
        .truncated, "The file ends before the \(extent.size) bytes of a segment do.",
        at: extent.offset)
    }
    guard hasSectionTable else { return }
    let table = try sectionTable()
    for index in sectionIndices {
      guard table.hasContents(index) else { continue }
      let (offset, size) = table.extent(of: index)
      guard file.holds(offset, size) else {
        throw file.error(
          .truncated, "The file ends before the \(size) bytes of a section do.",
          section: table.name(of: index), at: offset)
      }
    }
    try checkContradictions()
  }
}
