import Glibc
import TestSupport
import Testing
import Threads

@Suite("Threads of the system") struct POSIXThreadTests {
  @Test("one that is joined has done its work", .mayHang) func join() throws {
    let isDone = Lock(false)
    let thread = try #require(
      POSIXThread {
        usleep(20_000)
        isDone.withLock { $0 = true }
      })
    thread.join()
    #expect(isDone.withLock { $0 })
  }

  @Test("one that is detached does its work and lets go of it", .mayHang)
  func detach() {
    let isDone = Lock(false)
    #expect(POSIXThread.detach { isDone.change { $0 = true } })
    isDone.wait { $0 ? () : nil }
  }

  @Test("there is a processor") func processors() { #expect(POSIXThread.processors >= 1) }
}
