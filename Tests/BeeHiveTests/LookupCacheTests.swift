import Synchronization
import TestSupport
import Testing

@testable import BeeHive

/// An object that counts how many of its type are alive.
private final class Tracked: Sendable {
  static let alive = Atomic<Int>(0)
  let number: Int
  init(_ number: Int) {
    self.number = number
    Self.alive.wrappingAdd(1, ordering: .relaxed)
  }
  deinit { Self.alive.wrappingSubtract(1, ordering: .relaxed) }
}

@Suite("The cache of resolved services", .serialized)
struct LookupCacheTests {
  private let hive = Hive()

  /// Collects until `isDone` returns true. A reader of another test may hold back removed values.
  private func collect(_ hive: Hive, until isDone: () -> Bool) async throws {
    let isCollected = try await Patience.wait {
      hive.cache.collect(now: true)
      return isDone()
    }
    #expect(isCollected)
  }

  @Test(
    "replacements beside a reader keep memory flat and every answer whole",
    arguments: [Effort.times(100_000, full: 1_000_000)])
  func replacements(count: Int) async throws {
    let before = Tracked.alive.load(ordering: .relaxed)
    let key = LookupCache.key(of: Tracked.self)
    let done = Counter()
    hive.cache.publish(CachedValue(Tracked(0), name: nil), for: key)
    // The last number once memory was flat; nil if memory never was.
    let newest = await withTaskGroup(of: Int?.self) { group in
      group.addTask {
        defer { done.next() }
        // A reader that the system suspends holds back all values that are replaced meanwhile.
        // It lets them go afterwards.
        for number in 1...100 * count {
          hive.cache.publish(CachedValue(Tracked(number), name: nil), for: key)
          hive.cache.collect()
          let alive = Tracked.alive.load(ordering: .relaxed)
          if number >= count, alive < before + 4096 { return number }
        }
        return nil
      }
      group.addTask {
        var last = 0
        while done.count == 0 {
          guard let tracked = hive.cache.tracked(at: key) else { continue }
          #expect(tracked.number >= last, "a reader went back in time")
          last = tracked.number
        }
        return nil
      }
      return await group.reduce(nil) { $0 ?? $1 }
    }
    #expect(newest != nil)
    #expect(hive.cache.tracked(at: key)?.number == newest)
    hive.cache.publish(nil, for: key)
    try await collect(hive) { Tracked.alive.load(ordering: .relaxed) == before }
  }

  @Test("keys that come and go do not make the table grow")
  func churn() async throws {
    // Repeat this if the reader of another test holds back removed values.
    let isFlat = try await Patience.wait {
      for number in 1...10_000 {
        let key = UInt(number * 16)
        hive.cache.publish(CachedValue(number, name: nil), for: key)
        hive.cache.publish(nil, for: key)
        hive.cache.collect()
      }
      return hive.cache.retiredCount < 256
    }
    #expect(isFlat)
    #expect(hive.cache.capacity <= 64)
  }

  @Test("every key is found after growth")
  func growth() {
    for number in 1...5_000 {
      hive.cache.publish(CachedValue(number, name: nil), for: UInt(number * 16))
    }
    for number in 1...5_000 { #expect(hive.cache.number(at: UInt(number * 16)) == number) }
    #expect(hive.cache.number(at: 8) == nil)
  }
}

extension LookupCache {
  fileprivate func tracked(at key: UInt) -> Tracked? {
    withValue(Tracked.self, at: key) { copy $0 }
  }

  fileprivate func number(at key: UInt) -> Int? {
    withValue(Int.self, at: key) { copy $0 }
  }
}
