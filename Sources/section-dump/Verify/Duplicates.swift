internal import Registration

/// Entries that are refused because of others that are the same, process by process.
///
/// Of two duplicates the second is refused, and makes no third one a duplicate. The libraries are judged once.
/// For each executable only those entries are judged again that share an identity with one of its own, or with
/// an entry that does.
struct Duplicates {
  typealias Refused = (entry: Int, other: Int)

  private let entries: [Survey.Declared]
  private var identities: [Int: [Identity]] = [:]
  /// The shared entries that have an identity; empty where every process has no others.
  private var users: [Identity: [Int]] = [:]
  /// The shared entries that are refused where there are no others, and that no process has told yet.
  private var untold: [Refused] = []

  init(in processes: Processes) {
    entries = processes.entries
    for position in processes.shared { note(position) }
    untold = refused(among: processes.shared)
    guard processes.own.contains(where: { !$0.isEmpty }) else {
      identities = [:]
      return
    }
    for position in processes.shared {
      for identity in identities[position] ?? [] { users[identity, default: []].append(position) }
    }
  }

  private mutating func note(_ position: Int) {
    identities[position] = Identity.all(of: entries[position].record)
  }

  /// What is refused of some entries, which are in order, if there are no others.
  private func refused(among positions: [Int]) -> [Refused] {
    var holders: [Identity: Int] = [:]
    return positions.compactMap { position in
      let all = identities[position] ?? []
      if let other = all.lazy.compactMap({ holders[$0] }).first { return (position, other) }
      for identity in all { holders[identity] = position }
      return nil
    }
  }

  /// What the process with these entries refuses, in order; of the shared ones only what differs from
  /// what was told for the processes before.
  mutating func next(_ own: [Int]) -> [Refused] {
    for position in own { note(position) }
    defer { for position in own { identities[position] = nil } }
    var seen = Set(own)
    var met: Set<Identity> = []
    var queue = own
    while let position = queue.popLast() {
      for identity in identities[position] ?? [] where met.insert(identity).inserted {
        queue += (users[identity] ?? []).filter { seen.insert($0).inserted }
      }
    }
    let told = untold.filter { !seen.contains($0.entry) }
    untold.removeAll { !seen.contains($0.entry) }
    return (refused(among: seen.sorted()) + told).sorted { $0.entry < $1.entry }
  }
}
