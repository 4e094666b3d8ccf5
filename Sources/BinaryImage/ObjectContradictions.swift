/// What no relocatable object of any format says of its sections, unless a byte of it is wrong.
extension OpenedFile {
  /// The bytes of a section in the file.
  package struct Extent {
    package let start: UInt64
    package let end: UInt64
    /// The section's number.
    package let index: Int

    package init(_ index: Int, _ extent: FileExtent) {
      (self.index, start) = (index, extent.offset)
      end = extent.offset.saturating(adding: extent.size)
    }
  }

  /// Throws where something relocates what lies behind the end of a section: it was shortened.
  /// `furthest` answers the last place in a section that is relocated.
  package func checkRelocatedSizes(
    of sections: [Section], furthest: (Section) throws(ImageError) -> UInt64?
  ) throws(ImageError) {
    for section in sections {
      // What hinders reading them was told for each word.
      guard let place = try? furthest(section), place >= section.size else { continue }
      throw error(
        .malformed,
        "A relocation writes to \(place.hexadecimal) of the section, behind its "
          + "\(section.size) bytes.", section: section.name, at: self.place(of: section))
    }
  }

  /// Throws where one of the wanted sections shares bytes with another; `name` answers what a section
  /// is called.
  package func checkOverlaps(
    _ extents: [Extent], wanted: [Section], name: (_ index: Int) -> String?
  ) throws(ImageError) {
    let wanted = Set(wanted.map(\.index))
    var last: Extent?
    for extent in extents.sorted(by: { $0.start < $1.start }) {
      if let last, extent.start < last.end,
        wanted.contains(extent.index) || wanted.contains(last.index)
      {
        throw error(
          .malformed, "The sections \(last.index) and \(extent.index) share bytes.",
          section: name(extent.index), at: extent.start)
      }
      if last.map({ extent.end > $0.end }) ?? true { last = extent }
    }
  }
}
