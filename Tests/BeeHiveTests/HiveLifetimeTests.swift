import BeeHive
import TestSupport
import Testing

@Suite("How long a Hive lives")
struct HiveLifetimeTests {
  @Test("what it was given is let go as soon as it is removed, also where lookups found it")
  func removedIsLetGo() async throws {
    let hive = Hive()
    // These services keep places around the removed one in use.
    for number in 0..<10 {
      try hive.register(String.self, name: "\(number)", instance: "kept")
    }
    var kept: Thing? = Thing()
    weak let held = kept
    try hive.register(Thing.self, instance: #require(kept))
    #expect(try hive.service(Thing.self) === kept)
    kept = nil
    #expect(held != nil)
    #expect(hive.remove(Thing.self) == 1)
    // A reader of another test may hold it. Then it goes with the first removal after that reader has ended.
    let isLetGo = try await Patience.wait {
      if held == nil { return true }
      #expect(hive.remove(Int.self) == 0)
      return false
    }
    #expect(isLetGo)
    #expect(hive.entries.count == 10)
  }

  @Test("that of the process outlives every reference, and may be referred to weakly")
  func references() {
    weak let weakly = Hive.process
    unowned let unowned = Hive.process
    for _ in 0..<10 { _ = [Hive](repeating: .process, count: 1000) }
    #expect(weakly === Hive.process && unowned === Hive.process)
  }
}
