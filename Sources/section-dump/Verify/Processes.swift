internal import BinaryImage

/// Entries of one platform that may come into one process, by their positions in `entries`.
///
/// Each executable makes a process of its own, with all libraries. What the libraries come to is found
/// once; each process then costs what its executable changes of that, not what all files hold.
struct Processes {
  var entries: [Survey.Declared]
  /// Those of every process, in the order of the files.
  var shared: [Int]
  /// Those that each process has beside them; one process without any where there is no executable.
  var own: [[Int]]

  /// Objects are loaded by none: they are linked with each other, often into the very libraries that
  /// are beside them.
  static func all(of entries: [Survey.Declared]) -> [Processes] {
    let objects = entries.indices.filter { entries[$0].file == .object }
    let libraries = entries.indices.filter {
      entries[$0].file != .object && entries[$0].file != .executable
    }
    let executables = entries.indices.filter { entries[$0].file == .executable }
      .groups { entries[$0].place.file }
    return [
      Processes(entries: entries, shared: objects, own: [[]]),
      Processes(entries: entries, shared: libraries, own: executables.isEmpty ? [[]] : executables),
    ]
  }
}

extension Array {
  /// The elements in groups of one key, in the order of their first ones.
  func groups<Key: Hashable>(by key: (Element) -> Key) -> [Self] {
    var positions: [Key: Int] = [:]
    var groups: [Self] = []
    for element in self {
      let key = key(element)
      let position = positions[key, default: groups.count]
      if position == groups.count {
        positions[key] = position
        groups.append([])
      }
      groups[position].append(element)
    }
    return groups
  }
}
