import TestSupport
import Testing

@testable import BeeHive

/// An instance that writes down when it ends.
private final class Part: Disposable, SharedReader, SharedWriter {
  private let name: String
  private let journal: Journal

  init(_ name: String, _ journal: Journal) { (self.name, self.journal) = (name, journal) }

  func dispose() { journal.write("\(name) disposed of") }

  deinit { journal.write("\(name) gone") }
}

private struct Needing: Disposable {
  let part: Part
  let journal: Journal
  func dispose() { journal.write("needing disposed of") }
}

private struct Keeper: Module {
  var part: Part?
}

/// An instance that asks its scope for a service when it ends.
private final class Asking: Sendable {
  private let scope: ServiceScope
  private let journal: Journal

  init(_ scope: ServiceScope, _ journal: Journal) { (self.scope, self.journal) = (scope, journal) }

  deinit { journal.write((try? scope.service(Part.self)) == nil ? "refused" : "answered") }
}

@Suite("Each thing that a Hive made ends once, the latest first")
struct EndingsTests {
  private let journal = Journal()

  private func hive() throws -> Hive {
    let hive = Hive()
    try hive.register(Needing.self, scope: .singleton) { [journal] hive in
      Needing(part: try hive.service(), journal: journal)
    }
    try hive.register(Part.self, scope: .singleton) { [journal] _ in Part("part", journal) }
    return hive
  }

  @Test("a stop ends singletons, and the next lookup makes another", arguments: [true, false])
  func stop(isStarted: Bool) async throws {
    let hive = try hive()
    for _ in 0..<2 {
      if isStarted { try await hive.start() }
      _ = try hive.service(Needing.self)
      await hive.stop()
      // A reader of another test that began earlier may keep the instance for a while.
      let isGone = try await Patience.wait {
        hive.cache.collect(now: true)
        return journal.lines.count == 3
      }
      #expect(isGone)
      #expect(journal.take() == ["needing disposed of", "part disposed of", "part gone"])
    }
  }

  @Test("so does the last reference to the Hive; what a host gave is the host's")
  func letGo() throws {
    let given = Part("given", journal)
    do {
      let hive = try hive()
      try hive.register(Part.self, name: "given", instance: given)
      #expect(try hive.service(Part.self, name: "given") === given)
      _ = try hive.service(Needing.self)
    }
    #expect(journal.take() == ["needing disposed of", "part disposed of", "part gone"])
  }

  @Test("a Hive that runs keeps itself, until its stop", arguments: [true, false])
  func stopped(isReferred: Bool) async throws {
    var kept: Hive? = try hive()
    weak let hive = kept
    try await hive?.register(module: "keeper") { [journal] _ in
      Keeper(part: Part("keeper's", journal))
    }
    try await hive?.start()
    if !isReferred { kept = nil }
    #expect(await hive?.runningModules == ["keeper"])
    await hive?.stop()
    kept = nil
    #expect(journal.take() == ["keeper's gone"] && hive == nil)
  }

  @Test("what is made while the Hive stops is not kept")
  func madeMeanwhile() throws {
    let (hive, count) = (Hive(), Counter())
    try hive.register(Part.self, scope: .singleton) { [journal] hive in
      // This stands for a stop on another thread.
      if count.next() == 1 { endInstances(of: hive) }
      return Part("part", journal)
    }
    #expect(try hive.service(Part.self) === hive.service(Part.self))
    #expect(journal.lines == ["part disposed of", "part gone"], "the second one is kept")
  }

  @Test("a service may ask its scope while that ends")
  func askingScope() throws {
    let hive = Hive()
    let scope = hive.makeScope()
    try hive.register(Part.self, scope: .scoped) { [journal] _ in Part("part", journal) }
    try hive.register(Asking.self, scope: .scoped) { [journal] _ in Asking(scope, journal) }
    _ = try scope.service(Asking.self)
    scope.end()
    #expect(journal.lines == ["refused"])
  }

  @Test("what a module registers and removes in its events is gone")
  func inEvents() async throws {
    let hive = Hive()
    try await hive.listener("a") { [journal] _, context in
      let handle = context.hive.bind("Elsewhere") { _ in 1 }
      try context.hive.register(Part.self, instance: Part("part", journal))
      let observation = context.hive.observe { [part = Part("observer", journal)] _ in _ = part }
      #expect(context.hive.remove(Part.self) == 1)
      observation.cancel()
      handle.cancel()
      return .handled
    }
    try await hive.start()
    #expect(await hive.trigger(Event(1)).all)
    #expect(journal.take() == ["part gone", "observer gone"])
  }

  @Test("an override has the place of one entry, and no other lookup changes")
  func override() async throws {
    let hive = Hive()
    try hive.register(String.self, name: "home", instance: "home")
    try hive.register(String.self, name: "work", priority: 10, instance: "work")
    try await hive.overridingInTask(String.self, name: "home", with: "mock") {
      () async throws in
      #expect(try hive.service(String.self, name: "home") == "mock")
      #expect(try hive.service(String.self) == "work")
      #expect(try hive.all(of: String.self) == ["work", "mock"])
      #expect(hive.implementations(of: String.self).count == 2)
      await hive.overridingInTask(String.self, name: "home", with: "inner") {
        #expect((try? hive.all(of: String.self)) == ["work", "inner"])
      }
    }
    #expect(try hive.all(of: String.self) == ["work", "home"])
  }
}

protocol SharedReader: Sendable {}
protocol SharedWriter: Sendable {}
private struct Mock: SharedReader {}

@Suite("An instance that several services share is one thing")
struct SharedInstancesTests {
  private let journal = Journal()

  /// Returns a Hive with a library of two records that share the instance of one factory.
  private func hive(_ scope: Scope) throws -> Hive {
    let sources = try ["by-hand.h", "shared-records.c"].map {
      try Repository.fixture("Libraries/\($0)")
    }
    let source = "#define SCOPE \"scope=\(scope)\"\n" + sources.joined()
    let path = try Compiler.library(source, as: "shared.so")
    try OpenLibrary.keep(path)
    let hive = Hive(imagesWhere: { $0 == path })
    hive.bind("Disk") { [journal] _ in
      journal.write("made")
      return Part("disk", journal)
    }
    return hive
  }

  /// Asks for both services, and expects one instance.
  private func expectOne(in scope: ServiceScope) throws {
    let reader = try scope.service((any SharedReader).self) as? Part
    let writer = try scope.service((any SharedWriter).self) as? Part
    #expect(reader != nil && reader === writer)
  }

  @Test("it is made once and ends once", arguments: [Scope.singleton, .scoped, .weak])
  func endsOnce(scope: Scope) async throws {
    let hive = try hive(scope)
    let session = hive.makeScope()
    try expectOne(in: session)
    session.end()
    await hive.stop()
    let ending = scope == .weak ? [] : ["disk disposed of"]
    #expect(journal.take() == ["made"] + ending + ["disk gone"])
  }

  @Test("the removal of one service leaves it to the other", arguments: [0, 1])
  func removal(first: Int) throws {
    let hive = try hive(.singleton)
    try expectOne(in: hive.makeScope())
    let names = ["BeeHiveTests.SharedReader", "BeeHiveTests.SharedWriter"]
    #expect(hive.removeServices(named: names[first]) == 1)
    #expect(((try? hive.service((any SharedReader).self)) == nil) == (first == 0))
    #expect(((try? hive.service((any SharedWriter).self)) == nil) == (first == 1))
    #expect(journal.take() == ["made"])
    #expect(hive.removeServices(named: names[1 - first]) == 1)
    #expect(journal.take() == ["disk disposed of", "disk gone"])
  }

  @Test("an override answers for one service; its task and a check make one of their own")
  func override() async throws {
    let hive = try hive(.singleton)
    try expectOne(in: hive.makeScope())
    try await hive.overridingInTask((any SharedReader).self, with: Mock()) { () async throws in
      #expect(try hive.service((any SharedReader).self) is Mock)
      #expect(try hive.service((any SharedWriter).self) is Part)
    }
    #expect(journal.take() == ["made", "made", "disk disposed of", "disk gone"])
    try await hive.validate(making: true)
    #expect(journal.take() == ["made", "disk disposed of", "disk gone"])
  }

  @Test("in C a weak one is destroyed when every lookup, by any name, has been given back")
  func weakInC() throws {
    let path = try Compiler.library(Repository.fixture("Libraries/shared.c"), as: "shared.so")
    let library = try OpenLibrary(path)
    let hive = Hive(imagesWhere: { $0 == path })
    func find(_ name: String) throws -> UnsafePointer<Int32> {
      unsafe try hive.service(name, as: UnsafePointer<Int32>.self)
    }
    let disk = unsafe try find("Reader")
    #expect(unsafe try find("Writer") == disk && find("Reader") == disk)
    #expect(hive.removeServices(named: "Reader") == 1)
    for counts: Int32 in [10, 10, 11] {
      #expect(unsafe hive.destroy(disk, of: "Writer"))
      #expect(try library.call("counts") == counts)
    }
    for reason in ["; give both one scope", "; give both one factory"] {
      #expect(hive.entries.count { $0.description.contains(reason) } == 1)
    }
  }
}
