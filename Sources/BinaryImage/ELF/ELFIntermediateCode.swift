internal import CElf

extension ELFFile {
  /// Whether this object has the intermediate code of GCC and none for a machine: `gcc -flto` without
  /// `-ffat-lto-objects`.
  ///
  /// Since GCC 10 a section of its own says so in its fifth byte: `lto_section.slim_object`. Before,
  /// such an object is one whose other sections are all empty.
  func isSlimLTO() throws(ImageError) -> Bool {
    if let knownSlimLTO { return knownSlimLTO }
    let answer = try findSlimLTO()
    knownSlimLTO = answer
    return answer
  }

  private func findSlimLTO() throws(ImageError) -> Bool {
    let table = try sectionTable()
    var (hasCode, hasContents) = (false, false)
    for index in sectionIndices {
      let (offset, size) = table.extent(of: index)
      if table.name(of: index, startsWith: ".gnu.lto_") {
        hasCode = true
        guard table.name(of: index, startsWith: ".gnu.lto_.lto."), size >= 8 else { continue }
        return try file.slice(at: offset, count: 8).dropFirst(4).first != 0
      }
      // Both sorts have notes and the like.
      let isLoaded = size > 0 && table.kind(of: index).flags & UInt64(SHF_ALLOC) != 0
      if isLoaded, !hasContents {
        hasContents = !table.name(of: index, startsWith: ".note")
      }
    }
    return hasCode && !hasContents
  }
}
