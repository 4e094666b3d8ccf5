import BeeHive
import Testing

@Suite("The Hive of the process")
struct HiveTests {
  @Test("it outlives every reference, and may be referred to weakly")
  func references() {
    weak let weakly = Hive.process
    unowned let unowned = Hive.process
    for _ in 0..<10 { _ = [Hive](repeating: .process, count: 1000) }
    #expect(weakly === Hive.process)
    #expect(unowned === Hive.process)
  }
}
