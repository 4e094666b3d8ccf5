import Testing
import Threads

@Suite("Many elements are mapped by several threads")
struct ConcurrentMapTests {
  @Test("in their order, each once", arguments: [0, 1, 32, 33, 1000])
  func order(count: Int) {
    let calls = Lock(0)
    let made = Array(0..<count).mapConcurrently { number in
      calls.change { $0 += 1 }
      return 2 * number
    }
    #expect(made == (0..<count).map { 2 * $0 })
    #expect(calls.withLock { $0 } == count)
  }
}
