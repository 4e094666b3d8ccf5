internal import CElf

/// What a linked file says of itself to others.
package struct ELFLinkage: Hashable, Sendable {
  /// What others link it by: `DT_SONAME`.
  package var name: String?
  /// The libraries that are opened with it: `DT_FILTER`, `DT_NEEDED`.
  package var needed: [String]
  /// The version of the note that the header's macros write; nil where the file has none.
  package var noteVersion: Int?
  /// Whether it has a runtime of its own in it, as `libBeeHive.so` has.
  package var carriesRuntime: Bool
  /// Whether it has metadata of Swift's.
  package var hasSwiftSections: Bool

  /// Describes a file.
  package init(
    name: String?, needed: [String], noteVersion: Int?, carriesRuntime: Bool, hasSwiftSections: Bool
  ) {
    (self.name, self.needed, self.noteVersion) = (name, needed, noteVersion)
    (self.carriesRuntime, self.hasSwiftSections) = (carriesRuntime, hasSwiftSections)
  }
}

extension ELFFile {
  /// Returns what a linked file says of itself to others.
  ///
  /// - Returns: What the dynamic section, the notes and the names of the sections say.
  /// - Throws: ``ImageError`` where one of them cannot be read.
  package func linkage() throws(ImageError) -> ELFLinkage {
    let notes = try projectNotes()
    let hasSwift = hasSectionTable ? try sectionTable().holds(namesStartingWith: "swift5_") : false
    return ELFLinkage(
      name: try names(Int64(DT_SONAME)).last,
      needed: try names(Int64(DT_FILTER)) + names(Int64(DT_NEEDED)),
      noteVersion: notes.first { $0.type == SectionNote.type }.map { Int($0.version) },
      carriesRuntime: notes.contains { $0.type == Self.runtimeNote }, hasSwiftSections: hasSwift)
  }

  /// The type of the note of an image that has the runtime in it.
  private static let runtimeNote: UInt32 = 0x4245_4502

  /// The types of this project's notes and their versions, the first word of each.
  private func projectNotes() throws(ImageError) -> [(type: UInt32, version: UInt32)] {
    var versions: [(type: UInt32, version: UInt32)] = []
    for segment in try segments().notes {
      let notes = try notes(in: segment.extent, alignment: segment.alignment)
      for note in notes.list where note.owner == .beehive {
        let version = SectionNote.version(
          of: notes.bytes.span.extracting(note.descriptor), header.order)
        if let version { versions.append((note.type, version)) }
      }
    }
    return versions
  }

  /// The names that the dynamic section gives under a tag, in order; none without a dynamic section.
  func names(_ tag: Int64) throws(ImageError) -> [String] {
    guard let dynamic = try dynamic() else { return [] }
    return try dynamic.values(tag).map { offset throws(ImageError) in
      try name(at: offset, dynamic)
    }
  }

  /// A name that the dynamic section gives.
  func name(at offset: UInt64, _ dynamic: ELFDynamic) throws(ImageError) -> String {
    guard let symbols = dynamic.symbols else {
      throw file.error(
        .malformed, "It names libraries or paths, and the table of names is not there (DT_STRTAB).")
    }
    do throws(ImageError) { return try symbols.text(at: offset) } catch {
      guard error.code == .malformed else { throw error }
      throw file.error(
        .malformed,
        "The dynamic section names a library or a path \(offset.hexadecimal) bytes into the names, which end "
          + "before (DT_STRSZ).")
    }
  }
}
