import Testing

@testable import BeeHive

private let classJournal = Journal()

/// Two modules by subclassing: BeeHive dropped the base class if the subclass came first.
private class Base: Module, @unchecked Sendable {
  required init() {}
  var name: String { "base" }
  func setUp(_ context: Context) async throws { classJournal.write("\(name).setUp") }
  func unmount(_ context: Context) async throws { classJournal.write("\(name).unmount") }
}

private final class Derived: Base, @unchecked Sendable {
  override var name: String { "derived" }
}

@Suite("Registering and unregistering modules", .serialized)
struct ModuleRegistrationTests {
  private let hive = Hive()
  private let journal = Journal()

  @Test("base after subclass: both register")
  func baseAfterSubclass() async throws {
    try await hive.register(module: Derived.self)
    try await hive.register(module: Base.self)
    #expect(hive.entries.map(\.state) == [.bound, .bound])
    _ = classJournal.take()
    #expect(try await hive.start().started.count == 2)
    #expect(classJournal.take() == ["base.setUp", "derived.setUp"])
  }

  @Test("unregister parent keeps child, and works: only the named module goes")
  func unregisterParentKeepsChild() async throws {
    try await hive.register(module: Derived.self, name: "child")
    try await hive.register(module: Base.self, name: "parent")
    try await hive.start()
    _ = classJournal.take()
    #expect(await hive.unregister(module: "parent"))
    #expect(classJournal.take() == ["base.unmount"])
    #expect(await hive.runningModules == ["child"])
    #expect(hive.entries.map(\.name) == ["child"])
    await hive.stop()
    #expect(classJournal.take() == ["derived.unmount"])
  }

  @Test("unregister then list: the module is gone, and a second time there is nothing to remove")
  func unregisterThenList() async throws {
    for name in ["a", "b", "c"] { try await hive.probe(name, journal) }
    #expect(await hive.unregister(module: "b"))
    #expect(await hive.unregister(module: "b") == false)
    #expect(hive.entries.map(\.name) == ["a", "c"])
    #expect(try await hive.start().started == ["a", "c"])
    #expect(await hive.unregister(module: "c"))
    #expect(journal.lines.suffix(2) == ["c.tearDown", "c.unmount"])
    #expect(await hive.runningModules == ["a"])
    // The name is free again.
    try await hive.probe("b", journal)
    #expect(await hive.runningModules == ["a", "b"])
  }

  @Test("the same module twice is refused, and names both places")
  func duplicate() async throws {
    try await hive.register(module: Probe.self, name: "a", file: "Shop/First.swift", line: 1)
    let problem = await #expect(throws: Problem.self) {
      try await hive.register(module: Probe.self, name: "a", file: "Shop/Second.swift", line: 2)
    }
    #expect(problem?.code == .duplicate && problem?.message.contains("First.swift:1") == true)
    #expect(try await hive.start().started == ["a"])
    // The same accent in another encoding makes the same name.
    try await hive.register(module: Probe.self, name: "caf\u{e9}")
    await #expect(throws: Problem.self) {
      try await hive.register(module: Probe.self, name: "cafe\u{301}")
    }
  }

  @Test("unknown class reported: it is listed, and what requires it says why")
  func unknownClassReported() async throws {
    try hive.register(named: "Shop.Vanished")
    try await hive.probe("a", journal, requires: ["Shop.Vanished"])
    let report = try await hive.start(.skip)
    #expect(report.unbound.map(\.name) == ["Shop.Vanished"])
    #expect(report.started.isEmpty)
    #expect(report.order.problems.first?.contains("nothing can make it") == true)
  }

  @Test("declared and registered by code, in any order: one order over all ways of registration")
  func oneOrder() async throws {
    for isReversed in [false, true] {
      let (hive, journal) = (Hive(), Journal())
      let ways: [() async throws -> Void] = [
        { try hive.register(named: "BeeHiveTests.Probe", priority: 5) },
        { try await hive.probe("a", journal, priority: 1) },
        { try await hive.probe("b", journal, priority: 9) },
      ]
      for way in isReversed ? ways.reversed() : ways { try await way() }
      #expect(try await hive.start().started == ["b", "BeeHiveTests.Probe", "a"])
    }
  }

  @Test("plist vs annotation order equality: the same modules, declared either way or mixed")
  func filesAndAnnotations() async throws {
    let names = ["BeeHiveTests.OrchardModule", "BeeHiveTests.LogModule", "BeeHiveTests.Probe"]
    let priorities = [1, 7, 4]
    var orders: [[String]] = []
    for isInFile in [[true, true, true], [false, false, false], [true, false, true]] {
      let hive = Hive()
      var file = Registrations()
      for ((name, priority), isInFile) in zip(zip(names, priorities), isInFile) {
        if isInFile {
          file.moduleClasses.append(.init(moduleClass: name, modulePriority: priority))
        } else {
          try hive.register(named: name, priority: priority)
        }
      }
      try hive.register(file, file: "BeeHive.plist")
      orders.append(try await hive.start().started)
      await hive.stop()
    }
    #expect(orders == Array(repeating: [names[1], names[2], names[0]], count: 3))
  }

  @Test("a module that is switched off does not start, nor does what requires it")
  func switchedOff() async throws {
    try await hive.probe("audio", journal)
    try await hive.probe("player", journal, requires: ["audio"])
    try await hive.probe("shop", journal, after: ["video"])
    let options = LaunchOptions(onFailure: .skip, disabled: ["audio", "video"])
    let report = try await hive.start(options: options)
    #expect(report.started == ["shop"])
    #expect(report.disabled == ["audio"])
    #expect(report.order.problems.first?.hasSuffix("audio, which is switched off") == true)
    #expect(hive.report().entries.map(\.state) == ["disabled", "bound", "bound"])
    #expect(hive.report().description.contains("switched off by BEEHIVE_DISABLE or the options"))
    #expect(hive.report().order.map { $0.hasSuffix("audio, which is switched off") } == [true])
    #expect(Hive.names(listedIn: " audio,, video ,") == ["audio", "video"])
  }
}

extension Hive {
  /// Registers a module by the name of its type, as a pointer entry of an image does.
  fileprivate func register(named name: String, priority: Int = 0) throws {
    var attributes = Attributes()
    attributes.priority = priority
    try register(
      RegisteredEntry(
        kind: .module, name: name, attributes: attributes,
        source: .code(file: "App.swift", line: 1), progress: .accepted(.notYetLooked)))
  }
}
