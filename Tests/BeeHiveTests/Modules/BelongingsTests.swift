import TestSupport
import Testing
import Threads

@testable import BeeHive

@Suite("What a module registers belongs to it", .mayHang)
struct BelongingsTests {
  private let hive = Hive()
  private let journal = Journal()

  /// Returns the names of the services and modules that are left, in order.
  private func names(_ hive: Hive) -> [String] { hive.entries.map(\.name) }

  @Test("three starts: what setUp registers is there each time, and gone after it")
  func startAgain() async throws {
    try hive.register(Int.self, name: "outside") { _ in 1 }
    let heard = Counter()
    try await hive.probe("storage", journal, in: "setUp") { context in
      let hive = context.hive
      try hive.register(String.self) { _ in "stored" }
      try hive.declare("Shop.Till", by: "Shop.TillOfTheFile", in: "storage.json")
      hive.bind("Shop.TillOfTheFile") { _ in 7 }
      hive.observe { if case .started = $0 { heard.next() } }
      try await hive.probe("cache", journal)
    }
    for round in 1...3 {
      #expect(try await hive.start().started == ["storage", "cache"])
      #expect(names(hive) == ["Int", "storage", "String", "Shop.Till", "cache"].map(qualified))
      #expect(try hive.service(String.self) == "stored")
      #expect(await hive.stop().isEmpty)
      #expect(names(hive) == ["Int", "storage"].map(qualified))
      #expect(throws: ServiceError.self) { try hive.service(String.self) }
      #expect(try hive.service(Int.self, name: "outside") == 1)
      #expect(heard.count == round, "one observer in each life")
      #expect(journal.take().filter { $0 == "cache.unmount" }.count == 1)
    }
  }

  @Test("what it bound is unbound after it, and its singleton is made anew by the next")
  func bindings() async throws {
    try hive.declare("Swift.Int", by: "Shop.Clock", scope: .singleton)
    let lives = Counter()
    try await hive.probe("clock", journal, in: "setUp") { context in
      let life = lives.next()
      context.hive.bind("Shop.Clock") { _ in life }
    }
    for round in 1...3 {
      try await hive.start()
      #expect(try hive.service(Int.self) == round)
      #expect(await hive.stop().isEmpty)
      let error = #expect(throws: ServiceError.self) { try hive.service(Int.self) }
      #expect(error?.message.contains("no type of this name yet") == true)
    }
  }

  /// Returns the name of a type as it is registered: types of the standard library with their module.
  private func qualified(_ name: String) -> String {
    ["Int", "String"].contains(name) ? "Swift.\(name)" : name
  }

  @Test("what is refused as a duplicate is not listed for ever")
  func duplicates() async throws {
    try hive.register(String.self) { _ in "first" }
    try await hive.probe("late", journal, in: "initialize") { context in
      #expect(throws: Problem.self) { try context.hive.register(String.self) { _ in "second" } }
    }
    for _ in 0..<3 {
      try await hive.start()
      #expect(hive.entries.count == 3)
      await hive.stop()
      #expect(hive.entries.count == 2)
    }
  }

  @Test(
    "a module that fails, is skipped or is unregistered takes along what it registered",
    arguments: ["setUp", "initialize", "unregister"])
  func departure(reason: String) async throws {
    try await hive.probe("shop", journal) { step, context in
      if step == "setUp" {
        try context.hive.register(String.self) { _ in "shop" }
        try await context.hive.probe("till", journal)
      }
      if step == reason { throw Broken() }
    }
    try await hive.probe("follower", journal, requires: ["shop"], in: "setUp") { context in
      try context.hive.register(Int.self) { _ in 1 }
    }
    try await hive.start(.skip)
    if reason == "unregister" {
      #expect(await hive.unregister(module: "shop"))
      let end = journal.lines.suffix(4)
      #expect(end == ["till.tearDown", "till.unmount", "shop.tearDown", "shop.unmount"])
      #expect(await hive.runningModules == ["follower"])
      #expect(try hive.service(Int.self) == 1)
    } else {
      #expect(await hive.runningModules.isEmpty)
      #expect(hive.entries.map(\.name) == ["shop", "follower"])
      #expect(throws: ServiceError.self) { try hive.service(Int.self) }
    }
    #expect(throws: ServiceError.self) { try hive.service(String.self) }
  }

  @Test("one that goes before its setUp takes along what its making registered")
  func beforeSetUp() async throws {
    try await hive.register(module: "a") { hive in
      try hive.register(Int.self, instance: 1)
      return Probe()
    }
    try await hive.register(module: "b") { hive in
      hive.withdraw { $0.name == "a" }
      return Probe()
    }
    try await hive.start()
    #expect(hive.entries.map(\.name) == ["b"])
  }

  @Test("a handler's registrations belong to its module, a factory's to the module that asked")
  func handler() async throws {
    try hive.register(Double.self, scope: .singleton) { hive in
      try hive.register(Int.self) { _ in 2 }
      return 1
    }
    for name in ["a", "b"] {
      try await hive.listener(name, journal) { _, context in
        if name == "a" { try context.hive.register(String.self) { _ in "a" } }
        if name == "b" { _ = try context.hive.service(Double.self) }
        return .handled
      }
    }
    try await hive.start()
    await hive.trigger(Event(Broken()))
    #expect(try hive.service(String.self) == "a" && hive.service(Int.self) == 2)
    await hive.unregister(module: "a")
    #expect(throws: ServiceError.self) { try hive.service(String.self) }
    #expect(try hive.service(Int.self) == 2)
    await hive.unregister(module: "b")
    #expect(throws: ServiceError.self) { try hive.service(Int.self) }
  }

  @Test("of another Hive, nothing belongs to the module")
  func otherHive() async throws {
    let (hive, other) = (Hive(), Hive())
    try await hive.probe("a", journal, in: "setUp") { _ in
      try other.register(String.self) { _ in "other" }
    }
    try await hive.start()
    await hive.stop()
    #expect(try other.service(String.self) == "other")
  }

  @Test("a task that outlives its module is told that the module has been unmounted")
  func leftover() async throws {
    let end = Meeting(of: 2)
    let task = Lock<Task<Problem?, Never>?>(nil)
    try await hive.probe("a", journal, in: "setUp") { context in
      let leftover = Task { () -> Problem? in
        await end.attend()
        do throws(Problem) {
          try context.hive.register(String.self) { _ in "late" }
          return nil
        } catch {
          return error
        }
      }
      task.withLock { $0 = leftover }
    }
    try await hive.start()
    await hive.stop()
    await end.attend()
    let problem = await task.withLock { $0 }?.value
    #expect(problem?.code == .unmounted)
    #expect(problem?.message.contains("String") == true)
    #expect(hive.entries.map(\.name) == ["a"])
  }

  @Test("tear-down follows requirements, also after unregister and register")
  func tearDownOrder() async throws {
    try await hive.probe("log", journal)
    try await hive.probe("db", journal)
    try await hive.probe("web", journal, requires: ["db"], after: ["log"])
    try await hive.start()
    for name in ["db", "log"] {
      await hive.unregister(module: name)
      try await hive.probe(name, journal)
    }
    #expect(await hive.runningModules == ["web", "db", "log"])
    _ = journal.take()
    await hive.stop()
    let names = ["web", "log", "db"]
    #expect(journal.lines == names.map { "\($0).tearDown" } + names.map { "\($0).unmount" })
  }

  @Test("modules that came to need each other while they ran are each torn down once")
  func needingEachOther() async throws {
    try await hive.probe("db", journal)
    try await hive.probe("web", journal, requires: ["db"])
    try await hive.start()
    await hive.unregister(module: "db")
    try await hive.probe("db", journal, after: ["web"])
    _ = journal.take()
    #expect(await hive.stop().isEmpty)
    #expect(
      journal.lines.sorted() == ["db", "web"].flatMap { ["\($0).tearDown", "\($0).unmount"] })
  }
}
