/// The sections whose pointers are asked for; one pass over the tables serves all of them.
package struct WantedSections {
  /// Each section once.
  package private(set) var list: [Section] = []
  private var names: Set<String> = []
  /// All of them, once they are many.
  private var known: Set<Section> = []
  private static let few = 8

  /// No sections.
  package init() {}

  /// Remembers all sections of one name.
  package mutating func insert(_ sections: [Section], named name: String) {
    guard !sections.isEmpty, names.insert(name).inserted else { return }
    sections.forEach { insert($0) }
  }

  /// Remembers one section.
  package mutating func insert(_ section: Section) {
    if list.count < Self.few {
      if !list.contains(section) { list.append(section) }
      return
    }
    if known.isEmpty { known = Set(list) }
    if known.insert(section).inserted { list.append(section) }
  }
}
