internal import BinaryImage
internal import Registration

/// Names that were asked for, each of which one of the files must have.
struct Wanted: Sendable {
  /// One name, and whether it was found.
  struct Name: Sendable {
    /// `module`, `service` or `section`.
    var kind: String
    var text: String
    /// The pattern that the name is; nil where it must be exactly this one.
    var pattern: NamePattern?
    var isFound = false
    /// What the files have in its place.
    var similar = SimilarNames()
  }

  private(set) var names: [Name] = []
  /// Whether what matches is shown, and nothing else.
  let isSelection: Bool

  /// Entries that must be there, and patterns of those that are shown.
  init(_ required: [Requirement] = [], modules: [String] = [], services: [String] = []) {
    names = required.map { Name(kind: $0.kind.description, text: $0.name) }
    names += modules.map { Name(kind: "module", text: $0, pattern: NamePattern($0)) }
    names += services.map { Name(kind: "service", text: $0, pattern: NamePattern($0)) }
    isSelection = !modules.isEmpty || !services.isEmpty
  }

  /// Patterns of the names of sections that are shown.
  init(sections: [String]) {
    names = sections.map { Name(kind: "section", text: $0, pattern: NamePattern($0)) }
    isSelection = true
  }

  var isEmpty: Bool { names.isEmpty }

  /// What was asked for, for a person.
  var text: String { names.map(\.text).joined(separator: ", ") }

  /// Notes that a file has a name; whether that is one of those that are shown.
  mutating func sees(_ name: String, of kind: String) -> Bool {
    var isShown = false
    for index in names.indices where names[index].kind == kind {
      let isMatch = names[index].pattern?.matches(name) ?? (names[index].text == name)
      if isMatch {
        isShown = isShown || names[index].pattern != nil
        names[index].isFound = true
      } else if !names[index].isFound {
        names[index].similar.consider(name, for: names[index].text)
      }
    }
    return isShown
  }

  /// Adds what was seen in other files, by somebody who was asked for the same names.
  mutating func add(_ other: Self) {
    for (index, name) in zip(names.indices, other.names) {
      names[index].isFound = names[index].isFound || name.isFound
      names[index].similar.add(name.similar)
    }
  }

  /// A line for each name that no file has.
  var complaints: [String] {
    names.filter { !$0.isFound }.map { name in
      let what =
        name.pattern == nil
        ? "the required \(name.kind) \(name.text)" : "a \(name.kind) \(name.text)"
      let similar = name.similar.names.map(\.text)
      return "no file has \(what)"
        + (similar.isEmpty ? "" : "; similar: \(similar.joined(separator: ", "))")
    }
  }

}

extension Wanted: Coded {
  /// What was seen, on its way from a child to its parent, who asked for the same names.
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    for index in names.indices {
      try coder.code(&names[index], \.isFound, \.similar)
    }
  }

  /// The sections of an image whose names match, those of one name together.
  mutating func sections(of image: some FileImage) throws(ImageError) -> [Section] {
    var found: [Section] = []
    for name in try sectionNames(of: image) { found += try image.sections(named: name) }
    return found
  }

  /// Their names, each once.
  ///
  /// A name without a wildcard is found where others cannot be listed, as in a stripped file.
  private mutating func sectionNames(of image: some FileImage) throws(ImageError) -> [String] {
    var chosen: [String] = []
    var known: Set<String> = []
    var listed: [Section]?
    for (index, name) in names.enumerated() {
      if let literal = name.pattern?.literal, try !image.sections(named: literal).isEmpty {
        names[index].isFound = true
        if known.insert(literal).inserted { chosen.append(literal) }
        continue
      }
      if listed == nil { listed = try all(of: image, areNeeded: name.pattern?.literal == nil) }
      for section in listed ?? [] {
        let full = name.text.contains(",") ? section.fullName : section.name
        if name.pattern?.matches(full) == true {
          names[index].isFound = true
          if known.insert(full).inserted { chosen.append(full) }
        } else if !names[index].isFound {
          names[index].similar.consider(full, for: name.text)
        }
      }
    }
    return chosen
  }

  /// Every section; none where they cannot be listed and need not be.
  private func all(
    of image: some FileImage, areNeeded: Bool
  ) throws(ImageError) -> [Section] {
    do throws(ImageError) {
      return try image.allSections()
    } catch {
      guard areNeeded else { return [] }
      throw error
    }
  }
}
