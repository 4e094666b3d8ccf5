import BeeHiveRouting
import Foundation
import Testing

@Suite("An alias is a name that stands for a URL")
struct AliasesTests {
  private let router = Router()

  @Test("A name opens the URL that it means; the query goes along")
  func opening() async throws {
    let router = try Router().answering("app://shop/:id", "app://shop/home")
    let json = Data(#"{"home": "app://shop/home", "first": "app://shop/1?from=alias"}"#.utf8)
    try router.register(aliases: JSONDecoder().decode([String: String].self, from: json))
    let start = try router.register(aliases: ["start": "home"])
    #expect(await router.answer("home") == "app://shop/home")
    #expect(await router.answer("start?from=x") == "app://shop/home from=x")
    #expect(await router.answer("first") == "app://shop/:id from=alias id=1")
    #expect(await router.failure("first", origin: .remote) == .notRemote)
    #expect(router.canOpen("start"))
    start.cancel()
    #expect(!router.canOpen("start"))
  }

  @Test("Circles, second meanings and names that are none are refused, and nothing is taken")
  func refusals() throws {
    try router.register(aliases: ["a": "b"])
    for (aliases, code) in [
      (["b": "c", "c": "a"], RoutingError.Code.redirectLoop), (["a": "x"], .duplicate),
      (["x/y": "z"], .badPattern), (["": "z"], .badPattern), (["x": "%"], .malformedURL),
      (["n": "app://n", "x/y": "z"], .badPattern),
    ] {
      expectError(code) { try router.register(aliases: aliases) }
    }
    #expect(router.aliases == ["a": "b"])
  }

  @Test("The handler of unmatched URLs knows by which name they were asked for")
  func unmatched() async throws {
    try router.register(aliases: ["VC2": "app://two"])
    router.unmatched { "\($0.originalURL?.text ?? "") at \($0.url)" }
    #expect(await router.answer("VC2") == "VC2 at app://two")
    #expect(await router.answer("VC4") == "VC4 at VC4")
  }
}
