import TestSupport
import Testing

@testable import BeeHiveRouting

@Suite("Rules ask about a context that the host provides, which no caller can choose")
struct CallContextTests {
  /// The user who makes the call.
  @TaskLocal private static var user: String?

  private let router = Router()

  init() throws {
    try router.answering("app://a", "app://b")
    router.calls.context { call in ["user": Self.user, "origin": call.origin.rawValue] }
  }

  @Test(
    "A condition on the context does not hold for a parameter of the same name",
    arguments: [
      #"{"context": "user", "is": "admin"}"#, #"{"context": "user", "startsWith": "ad"}"#,
      #"{"percent": 100, "by": {"context": "user"}}"#,
      #"{"not": {"context": "user", "given": false}}"#,
      #"{"all": [{"context": "origin", "is": "local"}, {"context": "user", "in": ["admin"]}]}"#,
    ])
  func context(_ condition: String) async throws {
    try router.calls.load(
      table(rule("r", #"{"url": "app://a"}"#, when: condition, do: #"{"answer": "yes"}"#)))
    #expect(await router.answer("app://a?user=admin") == "app://a user=admin")
    let given = try await router.object(for: "app://a", as: String.self, with: ["user": "admin"])
    #expect(given == "app://a user=admin")
    await Self.$user.withValue("admin") {
      #expect(await router.answer("app://a") == "yes")
      #expect(router.calls.explain("app://a").end == "answered with yes")
      // Tasks that the call starts have the context too.
      let answer = await withCheckedContinuation { done in
        router.open("app://a?user=guest") { done.resume(returning: "\($0)") }
      }
      #expect(answer.contains("yes"))
    }
  }

  @Test("It is provided once for each call that a condition tests, and for no other")
  func once() async throws {
    let asked = Counter()
    let handle = router.calls.context { _ in
      asked.next()
      return ["user": "u"]
    }
    #expect(await router.answer("app://a") == "app://a")
    let never = #"{"context": "user", "is": "x"}"#
    try router.calls.load(
      table(
        rule("to b", #"{"url": "app://a"}"#, do: #"{"redirect": "app://b"}"#),
        rule("a", #"{"url": "app://a"}"#, when: never, do: #"{"block": "x"}"#),
        rule("b", #"{"url": "app://b"}"#, when: never, do: #"{"block": "x"}"#),
        rule("all", "{}", when: never, do: #"{"block": "x"}"#)))
    #expect(asked.count == 0)
    #expect(await router.answer("app://a") == "app://b")
    #expect(asked.count == 1)
    handle.cancel()
    #expect(await router.answer("app://a") == "app://b")
    #expect(asked.count == 1, "it has been taken away")
  }
}
