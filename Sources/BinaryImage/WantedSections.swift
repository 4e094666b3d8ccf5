/// The sections whose pointers are asked for; one pass over the tables serves all of them.
package struct WantedSections {
  /// Each section once.
  package private(set) var list: [Section] = []
  private var names: Set<String> = []
  private var known: Set<Section> = []

  /// No sections.
  package init() {}

  /// Remembers all sections of one name.
  package mutating func insert(_ sections: [Section], named name: String) {
    if names.insert(name).inserted { sections.forEach { insert($0) } }
  }

  /// Remembers one section.
  package mutating func insert(_ section: Section) {
    if known.insert(section).inserted { list.append(section) }
  }
}
