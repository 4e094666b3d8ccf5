import TestSupport
import Testing
import Threads

@Suite("What several threads share") struct LockTests {
  @Test("no change is lost among threads that change it at once", .mayHang)
  func changes() throws {
    let count = Lock(0)
    let threads = try (0..<4).map { _ in
      try #require(POSIXThread { for _ in 0..<10_000 { count.withLock { $0 += 1 } } })
    }
    for thread in threads { thread.join() }
    #expect(count.withLock { $0 } == 40_000)
  }

  @Test("who waits is asked again after each change, until it has what it needs", .mayHang)
  func waiting() throws {
    let number = Lock(0)
    let asked = Lock(0)
    let waiting = try #require(
      POSIXThread {
        let found = number.wait { number -> Int? in
          asked.change { $0 += 1 }
          return number == 3 ? number * 10 : nil
        }
        number.change { $0 = found }
      })
    for change in 1...3 {
      asked.wait { $0 >= change ? () : nil }
      number.change { $0 += 1 }
    }
    waiting.join()
    #expect(number.withLock { $0 } == 30)
  }

  @Test("what the body throws arrives, and the lock is free") func throwing() {
    struct Refused: Error {}
    let number = Lock(1)
    #expect(throws: Refused.self) { try number.withLock { _ throws(Refused) in throw Refused() } }
    #expect(number.withLock { $0 } == 1)
  }

  @Test("a value that is an object goes with its lock") func lifetime() {
    final class Held: Sendable {}
    var kept: Held? = Held()
    weak let held = kept
    var lock: Lock<Held?>? = Lock(kept)
    kept = nil
    #expect(held != nil)
    _ = lock?.withLock { $0 == nil }
    lock = nil
    #expect(held == nil)
  }
}

@Suite("Many elements are mapped by several threads") struct ConcurrentMapTests {
  @Test("in their order, each once", arguments: [0, 1, 32, 33, 1000])
  func order(count: Int) {
    let calls = Lock(0)
    let made = Array(0..<count).mapConcurrently { number in
      calls.withLock { $0 += 1 }
      return 2 * number
    }
    #expect(made == (0..<count).map { 2 * $0 })
    #expect(calls.withLock { $0 } == count)
  }
}
