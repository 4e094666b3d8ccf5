import TestSupport
import Testing
import Threads

@testable import BeeHive

@MainActor private final class Window {
  var title: String
  init(_ title: String) { self.title = title }
}

@Suite("Services that are made by and by", .mayHang)
struct LoadingTests {
  private let hive = Hive()
  private let counter = Counter()

  @Test("A singleton is loaded once, and found without waiting from then on")
  func once() async throws {
    try hive.loading(String.self) { _ in
      await Task.yield()
      return "made \(counter.next())"
    }
    expectServiceError(saying: "await hive.load") { try hive.service(String.self) }
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<100 { group.addTask { try await hive.load(String.self) } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(texts == ["made 1"])
    #expect(try hive.service(String.self) == "made 1")
  }

  @Test("A factory of the main actor, and one that makes each anew")
  func actors() async throws {
    try hive.register(Window.self, scope: .singleton, loading: { @MainActor _ in Window("main") })
    try hive.register(Int.self, loading: { _ in counter.next() })
    let window = try await hive.load(Window.self)
    #expect(await window.title == "main")
    for number in 1...2 { #expect(try await hive.load(Int.self) == number) }
    // Any other service can be loaded too, and an asynchronous service can be overridden.
    try hive.register(String.self) { _ in "at once" }
    #expect(try await hive.load(String.self) == "at once")
    try await hive.overridingInTask(Int.self, with: 99) { () async throws in
      #expect(try await hive.load(Int.self) == 99)
    }
    #expect(try await hive.load(Int.self) == 3)
  }

  @Test("A factory that throws is asked again the next time")
  func failing() async throws {
    try hive.loading(String.self) { _ in
      if counter.next() == 1 { throw Broken() }
      return "second"
    }
    let error = await #expect(throws: ServiceError.self) { try await hive.load(String.self) }
    #expect(error?.underlying is Broken)
    #expect(try await hive.load(String.self) == "second")
  }

  @Test("Services that wait for each other are an error, also where two tasks began")
  func cycles() async throws {
    for (name, other) in [("a", "b"), ("b", "a")] {
      try hive.loading(String.self, name: name) { hive in
        counter.next()
        while counter.count < 2 { await Task.yield() }
        return try await hive.load(String.self, name: other)
      }
    }
    async let first = try? hive.load(String.self, name: "a")
    let error = await #expect(throws: ServiceError.self) {
      try await hive.load(String.self, name: "b")
    }
    #expect(await first == nil)
    #expect(error?.code == .cycle)
  }

  @Test("Each of two services of a layer needs both of the layer below: none is looked at twice")
  func lattice() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        let below = number / 2 * 2 - 2
        try hive.loading(Int.self, name: "\(number)") { [counter] hive in
          // The layers below wait already, and none of them is done before all wait.
          while counter.count < max(0, below + 2) { try await Task.sleep(for: .milliseconds(1)) }
          if below < 0 {
            counter.next()
            while counter.count < 60 { try await Task.sleep(for: .milliseconds(1)) }
            return 1
          }
          async let one = hive.load(Int.self, name: "\(below)")
          async let other = hive.load(Int.self, name: "\(below + 1)")
          try await Task.sleep(for: .milliseconds(1))
          counter.next()
          return try await max(one, other) + 1
        }
        group.addTask { [hive] in _ = try await hive.load(Int.self, name: "\(number)") }
      }
      try await group.waitForAll()
    }
    #expect(try hive.service(Int.self, name: "59") == 30)
  }

  @Test(
    "What nobody waits for is no cycle; what somebody does is one, in any task",
    arguments: [true, false])
  func otherTask(isAwaited: Bool) async throws {
    let warm = Race<Bool>()
    try hive.loading(String.self) { hive in
      let task = Task { _ = try await hive.load(Int.self) }
      Task { warm.finish(await task.result.isSuccess) }
      if isAwaited { try await task.value } else { try await Task.sleep(for: .milliseconds(20)) }
      return "words"
    }
    try hive.loading(Int.self) { hive in try await hive.load(String.self).count }
    let patience = isAwaited ? Duration.milliseconds(100) : .seconds(60)
    let error =
      await Creation.$patience.withValue(patience) {
        await TimeLimit.result { _ = try await hive.load(String.self) }
      }.error as? ServiceError
    #expect(error?.code == (isAwaited ? .cycle : nil))
    #expect(await warm.value != isAwaited)
  }

  @Test("Who is cancelled comes back at once; others get what is made")
  func cancelled() async throws {
    let (goesOn, go) = AsyncStream<Void>.makeStream()
    try hive.loading(String.self) { _ in
      for await _ in goesOn { break }
      return "made"
    }
    let asking = Task { try await hive.load(String.self) }
    asking.cancel()
    let error = await asking.result.error as? ServiceError
    #expect(error?.underlying is CancellationError)
    async let other = hive.load(String.self)
    go.yield()
    #expect(try await other == "made")
  }

  @Test("Scopes that cannot be loaded are refused")
  func refused() {
    #expect(throws: Problem.self) {
      try Hive().register(String.self, scope: .scoped, loading: { _ in "" })
    }
  }

  @Test("Spans of the application's own are among those of the modules")
  func spans() async throws {
    #expect(hive.profiler.measure("parsing") { 7 } == 7)
    await #expect(throws: Broken.self) {
      try await hive.profiler.measure("fetching", "start") {
        await Task.yield()
        throw Broken()
      }
    }
    #expect(hive.profiler.spans.map(\.module) == ["parsing", "fetching"])
    #expect(hive.profiler.spans.map(\.isSuccess) == [true, false])
  }
}
