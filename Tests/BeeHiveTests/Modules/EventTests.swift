import TestSupport
import Testing

@testable import BeeHive

private struct Ping: Sendable, Equatable { var number = 0 }
private struct Price: Sendable, Equatable { var cents: Int }
private struct PriceQuestion: Sendable { var sku: String }

@Suite("Events and what modules make of them")
struct EventTests {
  private let journal = Journal()

  /// Returns a running Hive with a module for each answer, in this order: a, b, c, …
  private func hive(
    journal: Journal = Journal(), _ answers: (@Sendable (Event) throws -> EventResponse)...
  ) async throws -> Hive {
    let hive = Hive()
    for (name, answer) in zip("abcdefg", answers) {
      try await hive.listener(String(name), journal) { event, _ in try answer(event) }
    }
    try await hive.start()
    _ = journal.take()
    return hive
  }

  @Test("numbers below 1000 are taken; an event that a type stands for carries its value")
  func kinds() {
    for number in [-1, 0, 9, 23, 999] { #expect(Event(number: number, name: "x") == nil) }
    #expect(Event(number: 1000, name: "x")?.kind == .custom)
    #expect(Event(number: .max, name: "x")?.number == .max)
    let event = Event(Ping(number: 7))
    #expect(event.kind == .typed)
    #expect(event.name == "Ping")
    #expect(event.value(as: Ping.self) == Ping(number: 7))
    #expect(event.value(as: Price.self) == nil)
  }

  @Test("second custom selector: two modules answer one number each in its own way")
  func secondCustomSelector() async throws {
    let hive = try await hive(
      { $0.number == 1001 ? .value("first") : .ignored },
      { $0.number == 1001 ? .value("second") : .ignored })
    let event = try #require(Event(number: 1001, name: "sale"))
    #expect(await hive.trigger(event).collect(as: String.self) == ["first", "second"])
    let other = try #require(Event(number: 1002, name: "other"))
    #expect(await hive.trigger(other).any == false)
  }

  @Test("a module is torn down once its events have come back", arguments: [true, false])
  func drain(byStop: Bool) async throws {
    let (hive, journal, inside) = (Hive(), Journal(), Meeting(of: 2))
    try await hive.listener("a", journal) { _, _ in
      await inside.attend()
      try await Task.sleep(for: .milliseconds(50))
      journal.write("a.back")
      return .handled
    }
    try await hive.start()
    async let outcome = hive.trigger(Event(Ping()))
    await inside.attend()
    if byStop { await hive.stop() } else { #expect(await hive.unregister(module: "a")) }
    #expect(await outcome.all)
    #expect(journal.lines.suffix(4) == ["a.Ping", "a.back", "a.tearDown", "a.unmount"])
  }

  @Test("two events that each take the other's module out come back")
  func crossedRemovals() async throws {
    let (hive, inside) = (Hive(), Meeting(of: 2))
    for (name, other, number) in [("a", "b", 1001), ("b", "a", 1002)] {
      try await hive.listener(name) { event, context in
        guard event.number == number else { return .ignored }
        await inside.attend()
        return await context.hive.unregister(module: other) ? .handled : .ignored
      }
    }
    try await hive.start()
    let events = try [1001, 1002].map { try #require(Event(number: $0, name: "leave")) }
    async let first = hive.trigger(events[0])
    async let second = hive.trigger(events[1])
    #expect(await (first.any, second.any) == (true, true))
    #expect(await hive.stop().isEmpty)
  }

  @Test("results combine: all, any, first, collect")
  func combine() async throws {
    let mixed = try await hive(
      { _ in .ignored }, { _ in .value(1) }, { _ in .value("x") }, { _ in .value(2) })
    let outcome = await mixed.trigger(Event(Ping()))
    #expect(outcome.any && !outcome.all)
    #expect(outcome.first(as: Int.self) == 1)
    #expect(outcome.first(as: String.self) == "x")
    #expect(outcome.first(as: Ping.self) == nil)
    #expect(outcome.collect(as: Int.self) == [1, 2])
    let handled = try await hive({ _ in .handled }, { _ in .value(1) })
    #expect(await handled.trigger(Event(Ping())).all)
    let nobody = await Hive().trigger(Event(Ping()))
    #expect(!nobody.any && !nobody.all)
  }

  @Test("propagation stops where a module says so, with an answer or without")
  func stopPropagation() async throws {
    let hive = try await hive(
      journal: journal, { _ in .handled }, { $0.value(as: Ping.self) == nil ? .stop(5) : .stop() },
      { _ in .value(6) })
    #expect(await hive.trigger(Event(Ping())).any)
    #expect(journal.take() == "ab".steps("Ping"))
    #expect(try await hive.ask(Price(cents: 1), for: Int.self) == 5)
    #expect(journal.take() == "ab".steps("Price"))
  }

  @Test("a module that throws is reported, and those after it are told")
  func failure() async throws {
    let hive = try await hive({ _ in throw Broken() }, { _ in .handled })
    let outcome = await hive.trigger(Event(Ping()))
    #expect(outcome.failures.map { "\($0.module).\($0.event)" } == ["a.Ping"])
    #expect(outcome.answers.map(\.module) == ["b"])
    #expect(!outcome.all)
  }

  @Test("ask: the first answer of the type wins, the second is reported, and the asker gets one")
  func askOnce() async throws {
    let hive = try await hive(
      { _ in .value("not a price") }, { _ in .value(Price(cents: 3)) },
      { _ in .value(Price(cents: 4)) })
    hive.observe { if case .surplusReply = $0 { journal.write("\($0)") } }
    #expect(try await hive.ask(PriceQuestion(sku: "tea"), for: Price.self) == Price(cents: 3))
    #expect(journal.lines == ["PriceQuestion: b has answered, so the answer of c is dropped"])
  }

  @Test("ask: no answer is an error that says what the modules did instead")
  func askInVain() async throws {
    let hive = try await hive({ _ in .handled }, { _ in throw Broken() })
    let error = await #expect(throws: Problem.self) {
      _ = try await hive.ask(PriceQuestion(sku: "tea"), for: Price.self)
    }
    #expect(
      error?.description.hasPrefix(
        "PriceQuestion: no module answered with a Price; asked: 2, failed: 1; module b ") == true)
  }

  @Test("modules may trigger events inside events, and many events may overlap")
  func overlapping() async throws {
    let hive = Hive()
    for name in ["a", "b"] {
      try await hive.listener(name, journal) { event, context in
        if let ping = event.value(as: Ping.self), ping.number > 0 {
          await context.hive.trigger(Event(Ping(number: ping.number - 1)))
        }
        return .handled
      }
    }
    try await hive.start()
    _ = journal.take()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { await hive.trigger(Event(Ping(number: 3))) } }
    }
    // Each level reaches two modules, and each of them begins the next level.
    let calls = 20 * (2 + 4 + 8 + 16)
    #expect(journal.lines.count == calls)
  }

  @Test("events during the start reach whoever has been set up, and nobody before or after")
  func duringStart() async throws {
    let hive = Hive()
    for name in ["a", "b", "c"] {
      try await hive.probe(name, journal) { step, context in
        guard name == "b" else { return }
        let told = await context.hive.trigger(Event(Ping())).answers.map(\.module)
        journal.write("\(step): \(told.joined())")
      }
    }
    try await hive.start()
    await hive.stop()
    #expect(
      journal.lines.filter { $0.contains(":") } == [
        "setUp: a", "initialize: abc", "splash: abc", "tearDown: a", "unmount: ",
      ])
  }
}
