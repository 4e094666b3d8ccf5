internal import Registration

/// What a new build declares that an old one did not, and the other way round.
struct Differences {
  typealias Declared = Survey.Declared

  private(set) var added: [Declared] = []
  private(set) var removed: [Declared] = []
  private(set) var changed: [(old: Declared, new: Declared)] = []

  /// What could not be read of either build, so that more may differ, or less.
  private(set) var problems: [(build: Build, trouble: Survey.Trouble)] = []
  /// The builds of which no entry could be read: nothing is compared then.
  private(set) var unread: [Build] = []

  enum Build: String {
    case old, new
  }

  var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

  init(from old: Survey, to new: Survey) {
    let builds = [(Build.old, old), (Build.new, new)]
    unread = builds.filter { $0.1.declared.isEmpty && !$0.1.problems.isEmpty }.map(\.0)
    if unread.isEmpty { compare(old.declared, new.declared) }
    problems = builds.flatMap { build, survey in survey.problems.map { (build, $0) } }
  }

  /// Compares what entries say; where they are differs with every build.
  ///
  /// Entries of one kind and name are matched in order, those that are the same first, so that one of
  /// several that goes is not told as a change of all behind it.
  private mutating func compare(_ old: [Declared], _ new: [Declared]) {
    var rest = Dictionary(grouping: old, by: \.record.kindAndName)
    var unmatched: [Declared] = []
    for entry in new {
      let name = entry.record.kindAndName
      if let same = rest[name]?.firstIndex(where: { entry.record.says(whatSays: $0.record) }) {
        rest[name]?.remove(at: same)
      } else {
        unmatched.append(entry)
      }
    }
    for entry in unmatched {
      let name = entry.record.kindAndName
      if let other = rest[name]?.first {
        rest[name]?.removeFirst()
        changed.append((other, entry))
      } else {
        added.append(entry)
      }
    }
    for entry in old {
      let name = entry.record.kindAndName
      guard let place = rest[name]?.first?.place, place == entry.place else { continue }
      rest[name]?.removeFirst()
      removed.append(entry)
    }
  }

}

extension Record {
  /// What an entry is found by: its kind and its name.
  fileprivate var kindAndName: [String] { [kind.description, name] }

  /// Whether another entry of the same kind and name declares the same.
  fileprivate func says(whatSays other: Record) -> Bool {
    implementation == other.implementation && attributes == other.attributes
      && encoding == other.encoding && (accessor == nil) == (other.accessor == nil)
  }

  /// `implementation EnglishGreeter → FrenchGreeter, priority=1 → –`
  func changes(to new: Record) -> String {
    let sides = [
      ("implementation", implementation ?? "–", new.implementation ?? "–"),
      ("attributes", attributes.words, new.attributes.words),
      ("encoding", encoding.rawValue, new.encoding.rawValue),
    ]
    let changes = sides.filter { $0.1 != $0.2 }.map { what, old, new in
      "\(what) \(old.isEmpty ? "–" : old) → \(new.isEmpty ? "–" : new)"
    }
    return changes.isEmpty ? "accessor" : changes.joined(separator: ", ")
  }
}
