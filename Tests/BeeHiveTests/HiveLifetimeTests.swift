import BeeHive
import Synchronization
import TestSupport
import Testing

/// Says when it is let go.
private final class Held: Sendable {
  static let alive = Atomic<Int>(0)
  init() { Self.alive.add(1, ordering: .relaxed) }
  deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

private struct Keeper: Module {
  let held = Held()
}

@Suite("How long a Hive lives", .serialized)
struct HiveLifetimeTests {
  private func hive() async throws -> Hive {
    let hive = Hive()
    try hive.register(Held.self, scope: .singleton) { _ in Held() }
    try await hive.register(module: Keeper.self)
    _ = try hive.service(Held.self)
    try await hive.start()
    return hive
  }

  @Test(
    "one that runs keeps itself; once stopped it is let go, with its modules and singletons",
    arguments: [true, false])
  func stopped(isReferred: Bool) async throws {
    var kept: Hive? = try await hive()
    weak let hive = kept
    if !isReferred { kept = nil }
    #expect(await hive?.runningModules.count == 1)
    #expect(Held.alive.load(ordering: .relaxed) == 2)
    await hive?.stop()
    #expect(Held.alive.load(ordering: .relaxed) == 0)
    kept = nil
    #expect(hive == nil)
  }

  @Test("what it was given is let go as soon as it is removed, also where lookups found it")
  func removedIsLetGo() async throws {
    let hive = Hive()
    // The others keep places around it in use.
    for number in 0..<10 {
      try hive.register(String.self, name: "\(number)", instance: "kept")
    }
    var kept: Held? = Held()
    weak let held = kept
    try hive.register(Held.self, instance: #require(kept))
    #expect(try hive.service(Held.self) === kept)
    kept = nil
    #expect(held != nil)
    #expect(hive.remove(Held.self) == 1)
    // Unless a reader of another test began before: then with whatever is removed after it has ended.
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
