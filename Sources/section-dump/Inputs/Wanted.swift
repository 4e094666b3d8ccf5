internal import BinaryImage
internal import PluginFiles
internal import Registration

/// The requested names. At least one file must have each of them.
struct Wanted: Sendable, Codable {
  /// One name, and whether it was found.
  struct Name: Sendable, Codable {
    /// The fields that a child sends. Its parent knows the others.
    private enum CodingKeys: CodingKey { case isFound, similar }

    /// `module`, `service`, `section` or `protocol`.
    var kind = ""
    var text = ""
    /// Whether to show what has this name, which may be a shell pattern. Otherwise it must only be there.
    var isShown = false
    var isFound = false
    /// The most similar names in the files.
    var similar: [String] = []

    /// Whether the text is a pattern with wildcards.
    var isPattern: Bool { isShown && text.utf8.contains { "*?[\\".utf8.contains($0) } }

    /// Notes a name that a file has, and returns whether it matches.
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
  /// Whether only matches are shown.
  var isSelection: Bool { names.contains(where: \.isShown) }
  /// Whether to look for section names that resemble a missing name.
  var looksForSimilar = false

  /// Creates names from required entries, and from patterns of what to show. Without patterns everything is shown.
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

  /// The requested names, for a person.
  var text: String { names.map(\.text).joined(separator: ", ") }

  /// Notes a name that a file has, and returns whether it is shown.
  mutating func sees(_ name: String, of kind: String) -> Bool {
    var isShown = false
    for index in names.indices where names[index].kind == kind {
      if names[index].meets(name), names[index].isShown { isShown = true }
    }
    return isShown
  }

  /// Adds the results of the same names in other files.
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

  /// Returns the sections of an image whose names match, grouped by name.
  ///
  /// A name without wildcards is found even if sections cannot be listed, as in a stripped file.
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
      // Names with a segment are compared with full names. Bytes that are not UTF-8 are replaced in the text of a name,
      // and the replacement begins with 0xef. Both need the list.
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
