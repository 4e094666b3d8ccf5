internal import CElf

extension ELFFile {
  /// The names of the libraries that are loaded with the file, in order: `DT_NEEDED`.
  package func neededLibraries() throws(ImageError) -> [String] { try names(Int64(DT_NEEDED)) }

  /// What others link the file by; nil where it does not say.
  package func sharedName() throws(ImageError) -> String? { try names(Int64(DT_SONAME)).first }

  /// The libraries that the dynamic section names with a tag.
  func names(_ tag: Int64) throws(ImageError) -> [String] {
    guard let dynamic = try dynamic.get() else { return [] }
    var names: [String] = []
    for offset in dynamic.values(tag) {
      guard let symbols = dynamic.symbols else {
        throw file.error(
          .malformed, "It needs libraries, and the table of their names is not there.")
      }
      names.append(try symbols.text(at: offset))
    }
    return names
  }
}
