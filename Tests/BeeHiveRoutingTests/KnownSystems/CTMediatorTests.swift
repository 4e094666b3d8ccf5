import BeeHiveRouting
import Testing

/// The situations that CTMediator tests, under its names, and those that its users ran into.
///
/// What a URL may call is in `RemoteCallTests`: `/a/b`, `native` in every writing, a module that a URL
/// names, an `=` in a value.
@Suite("CTMediator")
struct CTMediatorTests {
  let mediator = Mediator()

  init() throws { try mediator.register("A") { TargetA() } }

  @Test func testPresentDetailViewController() async throws {
    let page: DetailPage = try await mediator.perform(
      "A", "nativeFetchDetailViewController", ["key": "value"])
    #expect(page == DetailPage(key: "value"))
  }

  /// There, a target without the action ends in `notFound:`, and one that nobody has in nothing.
  @Test func testCrashTableViewController() async throws {
    #expect(await code(of: "A", "nativeNoSuchAction") == .noAction)
    #expect(await code(of: "NoSuchTarget", "nativeFetch") == .noTarget)
  }

  @Test("A missing action does not cost the instance that is kept")
  func cachedTargetAndMissingAction() async throws {
    let first: TargetA = try await mediator.perform("A", "me")
    #expect(await code(of: "A", "none") == .noAction)
    let second: TargetA = try await mediator.perform("A", "me")
    #expect(first === second)
  }

  @Test("A kept instance is not used where none is wanted")
  func cachingIsAsked() async throws {
    let kept: TargetA = try await mediator.perform("A", "me")
    let other: TargetA = try await mediator.perform("A", "me", caching: false)
    #expect(kept !== other)
  }

  @Test("Numbers and structures come back as they are (#27 #36 #42)")
  func results() async throws {
    #expect(try await mediator.perform("A", "int", as: Int32.self) == -7)
    #expect(try await mediator.perform("A", "float", as: Float.self) == 1.5)
    #expect(try await mediator.perform("A", "short", as: Int16.self) == 300)
    #expect(try await mediator.perform("A", "flag", as: Bool.self))
    #expect(try await mediator.perform("A", "rect", as: Rect.self) == Rect(x: 1, y: 2, w: 3, h: 4))
    try await mediator.perform("A", "void", as: Void.self)
  }

  @Test("No value, nothing and a miss are told apart")
  func nothings() async throws {
    let none: DetailPage? = try await mediator.perform("A", "nothing")
    #expect(none == nil)
    let nothing = try await mediator.perform("A", "void")
    #expect(nothing is Void)
    #expect(await code(of: "A", "miss") == .noAction)
  }

  /// There, a class of the name is looked up in a module; here, what it offers is known too.
  @Test func testCheckModuleName() throws {
    try mediator.register("B") { () -> TargetA in
      Issue.record("made")
      return TargetA()
    }
    #expect(mediator.declarations["B"]?.map(\.name).contains("void") == true)
    #expect(mediator.declarations["C"] == nil)
    #expect(mediator.router.canOpen("app://B/void") && !mediator.router.canOpen("app://B/none"))
    #expect(!mediator.router.canOpen("app://C/void"))
    let explained = mediator.calls.explain(.action(target: "B", action: "void"))
    #expect(explained.end.hasPrefix("action B.void of BeeHiveRoutingTests/CTMediatorTests.swift:"))
    #expect(mediator.calls.explain(.action(target: "C", action: "x")).error?.code == .noTarget)
  }

  private func code(of target: String, _ action: String) async -> RoutingError.Code? {
    do {
      try await mediator.perform(target, action)
      return nil
    } catch {
      return (error as? RoutingError)?.code
    }
  }
}

private struct DetailPage: Hashable, Sendable { var key: String }

private struct Rect: Hashable, Sendable { var x, y, w, h: Double }

private final class TargetA: Target {
  static let actions: [Action<TargetA>] = [
    Action("nativeFetchDetailViewController", [Parameter("key", String.self)]) { _, arguments in
      DetailPage(key: try arguments["key"])
    },
    Action("me") { target, _ in target },
    Action("int") { _, _ in Int32(-7) },
    Action("float") { _, _ in Float(1.5) },
    Action("short") { _, _ in Int16(300) },
    Action("flag") { _, _ in true },
    Action("rect") { _, _ in Rect(x: 1, y: 2, w: 3, h: 4) },
    Action("void") { _, _ in },
    Action("nothing") { _, _ -> DetailPage? in nil },
  ]
}
