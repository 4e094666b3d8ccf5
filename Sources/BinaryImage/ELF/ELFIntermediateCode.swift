extension ELFSectionTable {
  /// Whether an object of these sections has the intermediate code of GCC and none for a machine:
  /// `gcc -flto` without `-ffat-lto-objects`.
  ///
  /// Since GCC 10 a section of its own says so in its fifth byte: `lto_section.slim_object`. Before,
  /// such an object is one whose other sections are all empty.
  func isSlimLTO(of file: OpenedFile) throws(ImageError) -> Bool {
    var (hasCode, hasContents) = (false, false)
    for index in 1..<max(1, count) {
      let section = self[index]
      if name(of: index, startsWith: ".gnu.lto_") {
        hasCode = true
        guard name(of: index, startsWith: ".gnu.lto_.lto."), section.size >= 8 else { continue }
        return try file.slice(at: section.offset, count: 8).dropFirst(4).first != 0
      }
      // Both sorts have notes and the like.
      if section.isLoaded, section.size > 0, !hasContents {
        hasContents = !name(of: index, startsWith: ".note")
      }
    }
    return hasCode && !hasContents
  }
}
