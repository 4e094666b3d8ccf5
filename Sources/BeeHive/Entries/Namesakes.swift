internal import Registration

/// The entries of one name, or of one type: those that have the same given name together.
struct Namesakes {
  /// By the given name, each group in order of registration; none is empty.
  private var groups: [String?: [RegisteredEntry]] = [:]

  var isEmpty: Bool { groups.isEmpty }

  /// Every entry, in order of registration.
  var all: [RegisteredEntry] {
    groups.count == 1
      ? groups.values.first ?? [] : groups.values.joined().sorted { $0.order < $1.order }
  }

  /// Those that have this given name, or none; in order of registration.
  func given(_ name: String?) -> [RegisteredEntry] { groups[name] ?? [] }

  /// Inserts an entry in its order. The time grows with the number of later entries of the same given name.
  mutating func add(_ entry: RegisteredEntry) {
    let earlier = given(entry.givenName).lastIndex { $0.order < entry.order }
    groups[entry.givenName, default: []].insert(entry, at: earlier.map { $0 + 1 } ?? 0)
  }

  /// Takes out an entry.
  mutating func remove(_ entry: RegisteredEntry) {
    groups[entry.givenName]?.removeAll { $0 === entry }
    if groups[entry.givenName]?.isEmpty == true { groups[entry.givenName] = nil }
  }
}

extension Dictionary where Value == Namesakes {
  /// Those of a key that have this given name, or none; in order of registration.
  func given(_ name: String?, for key: Key) -> [RegisteredEntry] { self[key]?.given(name) ?? [] }

  /// Takes in an entry.
  mutating func add(_ entry: RegisteredEntry, for key: Key) {
    self[key, default: Namesakes()].add(entry)
  }

  /// Takes out an entry.
  mutating func remove(_ entry: RegisteredEntry, for key: Key) {
    self[key]?.remove(entry)
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}
