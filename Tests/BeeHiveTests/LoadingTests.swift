import Synchronization
import Testing
import Threads

@testable import BeeHive

private struct Failure: Error {}
private struct Words: Sendable { let text: String }
private struct MoreWords: Sendable { let text: String }

private final class Counter: Sendable {
  private let number = Atomic<Int>(0)
  func next() -> Int { number.wrappingAdd(1, ordering: .relaxed).newValue }
}

@MainActor private final class Window {
  var title: String
  init(_ title: String) { self.title = title }
}

@Suite("Services that are made by and by", .timeLimit(.minutes(5)))
struct LoadingTests {
  @Test("A singleton is loaded once, and found without waiting from then on")
  func once() async throws {
    let (hive, counter) = (Hive(), Counter())
    try hive.register(
      Words.self, scope: .singleton,
      loading: { _ in
        await Task.yield()
        return Words(text: "made \(counter.next())")
      })
    let error = #expect(throws: ServiceError.self) { try hive.service(Words.self) }
    #expect(error?.message.contains("await hive.load") == true)
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<100 { group.addTask { try await hive.load(Words.self).text } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(texts == ["made 1"])
    #expect(try hive.service(Words.self).text == "made 1")
  }

  @Test("A factory of the main actor, and one that makes each anew")
  func actors() async throws {
    let (hive, counter) = (Hive(), Counter())
    try hive.register(Window.self, scope: .singleton, loading: { @MainActor _ in Window("main") })
    try hive.register(Words.self, loading: { _ in Words(text: "\(counter.next())") })
    let window = try await hive.load(Window.self)
    #expect(await window.title == "main")
    #expect(try await hive.load(Words.self).text == "1")
    #expect(try await hive.load(Words.self).text == "2")
    // Any other service can be loaded too, and one of these overridden.
    try hive.register(MoreWords.self) { _ in MoreWords(text: "at once") }
    #expect(try await hive.load(MoreWords.self).text == "at once")
    try await hive.overridingInTask(Words.self, with: Words(text: "mock")) { () async throws in
      #expect(try await hive.load(Words.self).text == "mock")
    }
    #expect(try await hive.load(Words.self).text == "3")
  }

  @Test("A factory that throws is asked again the next time")
  func failing() async throws {
    let (hive, counter) = (Hive(), Counter())
    try hive.register(
      Words.self, scope: .singleton,
      loading: { _ in
        if counter.next() == 1 { throw Failure() }
        return Words(text: "second")
      })
    let error = await #expect(throws: ServiceError.self) { try await hive.load(Words.self) }
    #expect(error?.underlying is Failure)
    #expect(try await hive.load(Words.self).text == "second")
  }

  @Test("Services that wait for each other are an error, also where two tasks began")
  func cycles() async throws {
    let hive = Hive()
    let both = Lock(0)
    for (name, other) in [("a", "b"), ("b", "a")] {
      try hive.register(
        Words.self, name: name, scope: .singleton,
        loading: { hive in
          both.withLock { $0 += 1 }
          while both.withLock({ $0 }) < 2 { await Task.yield() }
          return try await hive.load(Words.self, name: other)
        })
    }
    async let first = try? hive.load(Words.self, name: "a")
    let error = await #expect(throws: ServiceError.self) {
      try await hive.load(Words.self, name: "b")
    }
    #expect(await first == nil)
    #expect(error?.code == .cycle)
  }

  @Test(
    "What nobody waits for is no cycle; what somebody does is one, in any task",
    arguments: [true, false])
  func otherTask(isAwaited: Bool) async throws {
    let hive = Hive()
    let warm = Race<Bool>()
    try hive.register(
      Words.self, scope: .singleton,
      loading: { hive in
        let task = Task { _ = try await hive.load(MoreWords.self) }
        Task { warm.finish(await task.result.isSuccess) }
        if isAwaited { try await task.value } else { try await Task.sleep(for: .milliseconds(20)) }
        return Words(text: "words")
      })
    try hive.register(
      MoreWords.self, scope: .singleton,
      loading: { hive in MoreWords(text: try await hive.load(Words.self).text) })
    let patience = isAwaited ? Duration.milliseconds(100) : .seconds(60)
    let error =
      await Creation.$patience.withValue(patience) {
        await TimeLimit.result { _ = try await hive.load(Words.self) }
      }.error as? ServiceError
    #expect(error?.code == (isAwaited ? .cycle : nil))
    #expect(await warm.value != isAwaited)
  }

  @Test("Who is cancelled comes back at once; others get what is made")
  func cancelled() async throws {
    let hive = Hive()
    let (goesOn, go) = AsyncStream<Void>.makeStream()
    try hive.register(
      Words.self, scope: .singleton,
      loading: { _ in
        for await _ in goesOn { break }
        return Words(text: "made")
      })
    let asking = Task { try await hive.load(Words.self) }
    asking.cancel()
    let error = await asking.result.error as? ServiceError
    #expect(error?.underlying is CancellationError)
    async let other = hive.load(Words.self)
    go.yield()
    #expect(try await other.text == "made")
  }

  @Test("Scopes that cannot be loaded are refused")
  func refused() {
    #expect(throws: Problem.self) {
      try Hive().register(Words.self, scope: .scoped, loading: { _ in Words(text: "") })
    }
  }

  @Test("Spans of the application's own are among those of the modules")
  func spans() async throws {
    let hive = Hive()
    #expect(hive.profiler.measure("parsing") { 7 } == 7)
    await #expect(throws: Failure.self) {
      try await hive.profiler.measure("fetching", "start") {
        await Task.yield()
        throw Failure()
      }
    }
    #expect(hive.profiler.spans.map(\.module) == ["parsing", "fetching"])
    #expect(hive.profiler.spans.map(\.isSuccess) == [true, false])
  }

  @Test("Settings by name are read as a dictionary")
  func dictionary() throws {
    let configuration = Configuration(defaults: ["limits": ["cart": 3, "wishes": "40"]])
    let key = Configuration.Key<[String: Int]>("limits")
    #expect(try configuration.value(key) == ["cart": 3, "wishes": 40])
  }
}

extension Result {
  fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
  fileprivate var isSuccess: Bool { error == nil }
}
