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
    /// Whether a shell would read it as a pattern; otherwise names must be exactly this one.
    var isPattern = false
    var isFound = false
    /// The names in the files that are nearest to it.
    var similar: [String] = []

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

    /// Whether one of these characters is in it.
    func holds(_ characters: Set<Unicode.Scalar>) -> Bool {
      text.unicodeScalars.contains(where: characters.contains)
    }
  }

  private(set) var names: [Name] = []
  /// Whether what matches is shown, and nothing else.
  let isSelection: Bool
  /// Whether the names of sections are looked at that may be similar to a name that is not found.
  var looksForSimilar = false

  /// Entries that must be there, and patterns of what is shown; everything is where there are none.
  init(
    _ required: [(kind: RecordKind, name: String)] = [],
    patterns: [(kind: String, texts: [String])] = []
  ) {
    names = required.map { Name(kind: $0.kind.description, text: $0.name) }
    for (kind, texts) in patterns {
      names += texts.map { Name(kind: kind, text: $0, isPattern: true) }
    }
    isSelection = patterns.contains { !$0.texts.isEmpty }
  }

  var isEmpty: Bool { names.isEmpty }

  /// What was asked for, for a person.
  var text: String { names.map(\.text).joined(separator: ", ") }

  /// Notes that a file has a name; whether that is one of those that are shown.
  mutating func sees(_ name: String, of kind: String) -> Bool {
    var isShown = false
    for index in names.indices where names[index].kind == kind {
      if names[index].meets(name), names[index].isPattern { isShown = true }
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
      "no file has \(name.isPattern ? "a" : "the required") \(name.kind) \(name.text)"
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
      let text = names[index].text
      let isLiteral = !names[index].holds(["*", "?", "[", "\\"])
      let named = isLiteral ? try image.sections(named: text) : []
      if !named.isEmpty {
        names[index].isFound = true
        if known.insert(Array(text.utf8)).inserted { found += named }
        continue
      }
      // A segment is no part of the name that sections are found by, and bytes that are no UTF-8 are none of a pattern.
      let isListed = !isLiteral || names[index].holds([",", "\u{fffd}"])
      guard isListed || looksForSimilar && !names[index].isFound else { continue }
      if listed == nil { listed = isListed ? try image.allSections() : try? image.allSections() }
      for section in listed ?? [] {
        let full = text.contains(",") ? section.fullName : section.name
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
