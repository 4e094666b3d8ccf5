internal import BinaryImage
internal import PluginFiles
internal import Registration

/// Names that were asked for, each of which one of the files must have.
struct Wanted: Sendable, Codable {
  /// One name, and whether it was found.
  struct Name: Sendable, Codable {
    /// What a child tells of it; its parent knows the rest.
    private enum CodingKeys: CodingKey { case isFound, similar }

    /// `module`, `service`, `section` or `protocol`.
    var kind = ""
    var text = ""
    /// Whether what has the name is shown, and a shell may read it as a pattern; otherwise it must only be there.
    var isShown = false
    var isFound = false
    /// The names in the files that are nearest to it.
    var similar: [String] = []

    /// Whether names need not be exactly this one.
    var isPattern: Bool { isShown && text.utf8.contains { "*?[\\".utf8.contains($0) } }

    /// Notes that a file has a name, and returns whether it is this one.
    mutating func meets(_ name: String) -> Bool {
      let isMatch = isPattern ? name.isMatched(by: text) : text == name
      if isMatch {
        isFound = true
      } else if !isFound, !nearest(to: text, in: [name]).isEmpty {
        similar = nearest(to: text, in: similar + [name])
      }
      return isMatch
    }
  }

  private(set) var names: [Name] = []
  /// Whether what matches is shown, and nothing else.
  var isSelection: Bool { names.contains(where: \.isShown) }
  /// Whether the names of sections are looked at that may be similar to a name that is not found.
  var looksForSimilar = false

  /// Entries that must be there, and patterns of what is shown; everything is where there are none.
  init(
    _ required: [(kind: RecordKind, name: String)] = [],
    patterns: [(kind: String, texts: [String])] = []
  ) {
    names = required.map { Name(kind: $0.kind.description, text: $0.name) }
    for (kind, texts) in patterns {
      names += texts.map { Name(kind: kind, text: $0, isShown: true) }
    }
  }

  var isEmpty: Bool { names.isEmpty }

  /// What was asked for, for a person.
  var text: String { names.map(\.text).joined(separator: ", ") }

  /// Notes that a file has a name; whether that is one of those that are shown.
  mutating func sees(_ name: String, of kind: String) -> Bool {
    var isShown = false
    for index in names.indices where names[index].kind == kind {
      if names[index].meets(name), names[index].isShown { isShown = true }
    }
    return isShown
  }

  /// Adds what was seen in other files, by somebody who was asked for the same names.
  mutating func add(_ other: Self) {
    for (index, name) in zip(names.indices, other.names) {
      names[index].isFound = names[index].isFound || name.isFound
      names[index].similar = nearest(to: names[index].text, in: names[index].similar + name.similar)
    }
  }

  /// A line for each name that no file has.
  var complaints: [String] {
    names.filter { !$0.isFound }.map { name in
      "no file has \(name.isShown ? "a" : "the required") \(name.kind) \(name.text)"
        + question(about: name.similar)
    }
  }

  /// The sections of an image whose names match, those of one name together.
  ///
  /// A name without a wildcard is found where others cannot be listed, as in a stripped file.
  mutating func sections(of image: some FileImage) throws(ImageError) -> [Section] {
    var (found, known): ([Section], Set<[UInt8]>) = ([], [])
    var listed: [Section]?
    for index in names.indices {
      let (text, isPattern) = (names[index].text, names[index].isPattern)
      let named = isPattern ? [] : try image.sections(named: text)
      if !named.isEmpty {
        names[index].isFound = true
        if known.insert(Array(text.utf8)).inserted { found += named }
        continue
      }
      // A segment is no part of the name that sections are found by, and bytes that are no UTF-8 are none of a pattern:
      // what stands for those begins with 0xef.
      let isQualified = text.utf8.contains(UInt8(ascii: ","))
      let isListed = isPattern || isQualified || text.utf8.contains(0xef)
      guard isListed || looksForSimilar && !names[index].isFound else { continue }
      if listed == nil { listed = isListed ? try image.allSections() : try? image.allSections() }
      for section in listed ?? [] {
        let full = isQualified ? section.fullName : section.name
        guard names[index].meets(full),
          known.insert(section.nameBytes ?? Array(full.utf8)).inserted
        else { continue }
        if let bytes = section.nameBytes {
          found += listed?.filter { $0.nameBytes == bytes } ?? []
        } else {
          found += try image.sections(named: full)
        }
      }
    }
    return found
  }
}
