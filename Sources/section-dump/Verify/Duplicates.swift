internal import Registration

/// Entries that are refused because of others that are the same, process by process.
///
/// Of two that are the same the second is refused, and is in nobody's way then. An executable's entries
/// are laid over what the libraries come to by themselves: only entries that share an identity with
/// something that is different in this process are looked at again.
struct Duplicates {
  typealias Refused = (entry: Int, other: Int)

  private let entries: [Survey.Declared]
  private var identities: [Int: [Identity]] = [:]
  /// Of the shared entries, those that are taken in where there are no others.
  private var holders: [Identity: Int] = [:]
  /// All shared entries that have an identity, in order; empty where every process has no others.
  private var users: [Identity: [Int]] = [:]
  /// The shared entries that are refused where there are no others, and because of which ones.
  private var refused: [Int: Int] = [:]
  /// Those of them that no process has told yet.
  private var untold: Set<Int> = []

  init(in processes: Processes) {
    entries = processes.entries
    let hasOwn = processes.own.contains { !$0.isEmpty }
    positions: for position in processes.shared {
      let all = Identity.all(of: entries[position].record)
      if hasOwn {
        identities[position] = all
        for identity in all { users[identity, default: []].append(position) }
      }
      for identity in all {
        if let other = holders[identity] {
          refused[position] = other
          continue positions
        }
      }
      for identity in all { holders[identity] = position }
    }
    untold = Set(refused.keys)
  }

  /// What the process with these entries refuses, in order; of the shared ones only what differs from
  /// what was told for the processes before.
  mutating func next(_ own: [Int]) -> [Refused] {
    var result: [Refused] = []
    let own = Dictionary(
      uniqueKeysWithValues: own.map { ($0, Identity.all(of: entries[$0].record)) })
    // What holds an identity here, where that is not what holds it without the own entries.
    var changes: [Identity: Int?] = [:]
    var seen: Set<Int> = []
    var queue = Heap(own.keys.sorted())
    while let position = queue.popMin() {
      guard seen.insert(position).inserted else { continue }
      let all = own[position] ?? identities[position] ?? []
      var other: Int?
      for identity in all where other == nil {
        other = changes[identity] ?? holders[identity].flatMap { $0 < position ? $0 : nil }
      }
      if let other { result.append((position, other)) }
      let wasTaken = own[position] == nil && refused[position] == nil
      guard wasTaken != (other == nil) else { continue }
      for identity in all {
        if let change = changes[identity] {
          // What is refused gives up what it held, not what another has taken from it.
          if other == nil, change == nil { changes[identity] = .some(position) }
          continue
        }
        changes[identity] = .some(other == nil ? position : nil)
        for user in users[identity] ?? [] where user > position { queue.insert(user) }
      }
    }
    for position in untold where !seen.contains(position) {
      if let other = refused[position] { result.append((position, other)) }
    }
    untold.formIntersection(seen)
    return result.sorted { $0.entry < $1.entry }
  }
}
