import TestSupport
import Testing
import Threads

@Suite("Threads for work that may block", .mayHang) struct ThreadPoolTests {
  @Test("work begins although all before it blocks, up to the width and beyond it")
  func growth() {
    let pool = ThreadPool(width: 2, spare: 1)
    let (arrived, isOver, left) = (Lock(0), Lock(false), Lock(0))
    for _ in 0..<5 {
      #expect(
        pool.run {
          arrived.change { $0 += 1 }
          isOver.wait { $0 ? () : nil }
          left.change { $0 += 1 }
        })
    }
    arrived.wait { $0 == 5 ? () : nil }
    isOver.change { $0 = true }
    left.wait { $0 == 5 ? () : nil }
    // A thread that is left over takes the next work.
    #expect(pool.run { left.change { $0 += 1 } })
    left.wait { $0 == 6 ? () : nil }
  }

  @Test("no work is lost among threads that hand it in at once")
  func crowd() throws {
    let pool = ThreadPool(width: 3, spare: 2)
    let count = Lock(0)
    let threads = try (0..<4).map { _ in
      try #require(
        POSIXThread {
          for _ in 0..<500 { _ = pool.run { count.change { $0 += 1 } } }
        })
    }
    for thread in threads { thread.join() }
    count.wait { $0 == 2000 ? () : nil }
  }
}

@Suite("Alarms", .mayHang) struct AlarmsTests {
  @Test("each rings once, also before one that was set earlier, and one that was cancelled never")
  func rings() {
    let alarms = Alarms()
    let rung = Lock<[String]>([])
    let late = alarms.set(after: .seconds(3600)) { rung.change { $0.append("late") } }
    _ = alarms.set(after: .milliseconds(2)) { rung.change { $0.append("second") } }
    _ = alarms.set(after: .milliseconds(1)) { rung.change { $0.append("first") } }
    rung.wait { $0.count == 2 ? () : nil }
    alarms.cancel(late)
    _ = alarms.set(after: .milliseconds(1)) { rung.change { $0.append("third") } }
    rung.wait { $0.count == 3 ? () : nil }
    #expect(rung.withLock { $0.sorted() } == ["first", "second", "third"])
  }

  @Test("who waits before a deadline gets what comes, and nil where nothing does")
  func deadline() throws {
    let number = Lock(0)
    #expect(number.wait(before: .now) { $0 > 0 ? $0 : nil } == nil)
    let thread = try #require(POSIXThread { number.change { $0 = 3 } })
    let deadline = ContinuousClock.now.advanced(by: .seconds(3600))
    #expect(number.wait(before: deadline) { $0 > 0 ? $0 : nil } == 3)
    thread.join()
  }
}
