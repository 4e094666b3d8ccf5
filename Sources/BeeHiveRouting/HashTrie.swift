/// A dictionary whose copies share what they have in common: a change copies one path, of at most 32 places
/// a level, however many keys there are.
///
/// Calls hold copies of the tables that they began with; of a `Dictionary` the next change would copy
/// all of it. The keys are spread by five bits of their hash a level, so there are at most 13 levels.
struct HashTrie<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A place of a branch: the pairs of one hash, or the branch that tells several hashes apart.
  enum Place: Sendable {
    case pairs(hash: Int, [(key: Key, value: Value)])
    case branch(Branch)
  }

  /// The places that are taken, of 32, in order.
  struct Branch: Sendable {
    var map: UInt32 = 0
    var places: [Place] = []
  }

  private(set) var root = Branch()
  /// The number of keys.
  private(set) var count = 0

  /// Whether there is no key.
  var isEmpty: Bool { count == 0 }

  /// The value of a key.
  subscript(key: Key) -> Value? { root.value(of: key, hash: key.hashValue, level: 0) }

  /// Sets the value of a key, or takes it away, where `change` leaves nil.
  mutating func change(_ key: Key, _ change: (inout Value?) -> Void) {
    root.change(key, hash: key.hashValue, level: 0) { value in
      let before = value == nil ? 0 : 1
      change(&value)
      count += (value == nil ? 0 : 1) - before
    }
  }

  /// Sets the value of a key, or takes it away. Returns the value before.
  @discardableResult
  mutating func set(_ key: Key, _ new: consuming Value?) -> Value? {
    var before: Value?
    change(key) { [new] value in before = exchange(&value, with: new) }
    return before
  }

  /// Every key with its value, in no order.
  var pairs: [(key: Key, value: Value)] {
    var pairs: [(key: Key, value: Value)] = []
    pairs.reserveCapacity(count)
    root.collect(into: &pairs)
    return pairs
  }
}

extension HashTrie.Branch {
  /// The place of a hash: its bit, and its index among the places that are taken.
  private func place(of hash: Int, level: Int) -> (bit: UInt32, index: Int, isTaken: Bool) {
    let bit = UInt32(1) << UInt32(truncatingIfNeeded: hash >> (5 * level) & 31)
    return (bit, (map & (bit - 1)).nonzeroBitCount, map & bit != 0)
  }

  fileprivate func value(of key: Key, hash: Int, level: Int) -> Value? {
    let (_, index, isTaken) = place(of: hash, level: level)
    guard isTaken else { return nil }
    switch places[index] {
    case .branch(let branch): return branch.value(of: key, hash: hash, level: level + 1)
    case .pairs(let other, let pairs):
      return other == hash ? pairs.first { $0.key == key }?.value : nil
    }
  }

  fileprivate mutating func change(
    _ key: Key, hash: Int, level: Int, _ change: (inout Value?) -> Void
  ) {
    let (bit, index, isTaken) = place(of: hash, level: level)
    let new: HashTrie.Place?
    if !isTaken {
      var value: Value?
      change(&value)
      guard let value else { return }
      map |= bit
      places.insert(.pairs(hash: hash, [(key, value)]), at: index)
      return
    }
    // Taken out meanwhile, so that what is not shared is changed where it is.
    switch exchange(&places[index], with: .pairs(hash: 0, [])) {
    case .branch(var branch):
      branch.change(key, hash: hash, level: level + 1, change)
      new = branch.shortest
    case .pairs(hash, var pairs):
      let found = pairs.firstIndex { $0.key == key }
      var value = found.map { pairs.remove(at: $0).value }
      change(&value)
      if let value { pairs.append((key, value)) }
      new = pairs.isEmpty ? nil : .pairs(hash: hash, pairs)
    case .pairs(let other, let pairs):
      // A branch that tells the two hashes apart.
      var branch = Self(places: [.pairs(hash: other, pairs)])
      branch.map = branch.place(of: other, level: level + 1).bit
      branch.change(key, hash: hash, level: level + 1, change)
      new = branch.shortest
    }
    if let new {
      places[index] = new
    } else {
      map &= ~bit
      places.remove(at: index)
    }
  }

  /// The branch as a place: none where it is empty, its only pairs where it tells nothing apart.
  private var shortest: HashTrie.Place? {
    guard places.count < 2, let only = places.first else {
      return places.isEmpty ? nil : .branch(self)
    }
    if case .branch = only { return .branch(self) }
    return only
  }

  fileprivate func collect(into all: inout [(key: Key, value: Value)]) {
    for place in places {
      switch place {
      case .pairs(_, let pairs): all += pairs
      case .branch(let branch): branch.collect(into: &all)
      }
    }
  }
}
