package import BinaryImage

/// What a linker keeps of an object though nothing refers to it.
///
/// C's `used` marks symbols, not their section: `N_NO_DEAD_STRIP`. A linker takes a section apart at
/// its symbols and keeps each part by itself, so all of them have to be marked.
extension MachOFile {
  /// Whether all parts of an object's section, or the section, are marked.
  package func isRetained(_ section: Section) throws(ImageError) -> Bool {
    guard header.isObject, !section.isRetained, section.size > 0 else { return section.isRetained }
    guard let symbols = try symbols.get() else { return false }
    let start = try sectionEntry(section.index).address
    let marks = try symbols.marks(inSection: section.index)
    // Without this flag a section is one part, whatever is in it.
    guard header.isDivisible else { return marks.contains(where: \.isKept) }
    // What is before the first symbol belongs to none. Of several symbols at one place one mark
    // will do: assemblers put names of their own there.
    var (place, isKept) = (start, false)
    for mark in marks {
      if mark.address != place, !isKept { return false }
      isKept = mark.isKept || (isKept && mark.address == place)
      place = mark.address
    }
    return isKept
  }
}
