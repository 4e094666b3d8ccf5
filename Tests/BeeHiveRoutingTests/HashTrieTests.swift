import Testing
import Threads

@testable import BeeHiveRouting

@Suite("A dictionary whose copies share what they have in common")
struct HashTrieTests {
  /// A key whose hash is what the test wants.
  private struct Key: Hashable, Sendable {
    var name: Int
    var group: Int
    func hash(into hasher: inout Hasher) { hasher.combine(group) }
  }

  @Test(
    "It holds what a dictionary holds, through 20,000 changes", arguments: [1, 7, 1_000_000])
  func agreement(groups: Int) {
    var random = ReferenceGenerator(seed: UInt64(groups))
    var trie = HashTrie<Key, Int>()
    var dictionary: [Key: Int] = [:]
    for step in 0..<20_000 {
      let name = random.number(0...499)
      let key = Key(name: name, group: name % groups)
      let new = random.number(0...2) == 0 ? nil : step
      #expect(trie.set(key, new) == dictionary[key])
      dictionary[key] = new
      #expect(trie.count == dictionary.count)
    }
    for name in 0..<500 {
      let key = Key(name: name, group: name % groups)
      #expect(trie[key] == dictionary[key])
    }
    #expect(trie.pairs.map(\.value).sorted() == dictionary.values.sorted())
    for key in dictionary.keys { trie.set(key, nil) }
    #expect(trie.isEmpty && trie.root.places.isEmpty, "nothing is left behind")
  }

  @Test("A copy stays as it was") func copies() {
    var trie = HashTrie<Int, Int>()
    for number in 0..<1000 { trie.set(number, number) }
    let copy = trie
    for number in 0..<1000 { trie.set(number, number.isMultiple(of: 2) ? nil : -number) }
    #expect((0..<1000).allSatisfy { copy[$0] == $0 })
    #expect(copy.count == 1000 && trie.count == 500)
  }

  @Test("A change beside a copy copies as little among 50,000 keys as among 500, but for a level")
  func growth() {
    func copied(among count: Int) -> Int {
      var trie = HashTrie<Int, Int>()
      for number in 0..<count { trie.set(number, number) }
      let copy = trie
      trie.set(-1, -1)
      return trie.root.places(notIn: copy.root.branches)
    }
    #expect(copied(among: 500) <= 2 * 32 + 32)
    #expect(copied(among: 50_000) <= 4 * 32 + 32)
  }

  @Test("A registration while a handler sleeps copies as little among 20,000 routes as among 200")
  func registration() async throws {
    func copied(among count: Int) async throws -> Int {
      let router = Router()
      try router.register("app://sleeps") { _ in await Gate.shared.wait() }
      for number in 0..<count { try router.register("app://r\(number)") { _ in } }
      let call = Task { try await router.open("app://sleeps") }
      await Gate.shared.reached()
      let before = router.core.routes.withLock { $0 }
      try router.register("app://new") { _ in }
      let after = router.core.routes.withLock { $0 }
      await Gate.shared.open()
      _ = try await call.value
      return after.routes.root.places(notIn: before.routes.root.branches)
        + after.tree.roots.root.places(notIn: before.tree.roots.root.branches)
        + zip(after.tree.roots.pairs, before.tree.roots.pairs).map { after, before in
          after.value.literals.root.places(notIn: before.value.literals.root.branches)
        }.reduce(0, +)
    }
    let (few, many) = (try await copied(among: 200), try await copied(among: 20_000))
    #expect(few > 0 && many <= few + 4 * 32, "\(few) places among 200, \(many) among 20,000")
  }
}

/// Where a handler sleeps until it is let on.
private actor Gate {
  static let shared = Gate()
  private var sleeper: CheckedContinuation<Void, Never>?
  private var watcher: CheckedContinuation<Void, Never>?

  func wait() async {
    await withCheckedContinuation { continuation in
      sleeper = continuation
      watcher?.resume()
      watcher = nil
    }
  }

  /// Returns when a handler sleeps.
  func reached() async {
    guard sleeper == nil else { return }
    await withCheckedContinuation { watcher = $0 }
  }

  func open() {
    sleeper?.resume()
    sleeper = nil
  }
}

extension HashTrie.Branch {
  /// Where the places of this branch and of those below it are kept.
  fileprivate var branches: Set<UInt> {
    places.reduce(into: [address]) { found, place in
      if case .branch(let branch) = place { found.formUnion(branch.branches) }
    }
  }

  /// How many places this branch has, and those below it, that are not kept in one of `known`.
  fileprivate func places(notIn known: Set<UInt>) -> Int {
    guard !known.contains(address) else { return 0 }
    return places.reduce(places.count) { sum, place in
      if case .branch(let branch) = place { sum + branch.places(notIn: known) } else { sum }
    }
  }

  private var address: UInt {
    unsafe places.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }
}
