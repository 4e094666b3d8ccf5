import BeeHiveRouting
import Foundation
import HTTPEntry
import HTTPTypes
import Testing

@Suite("Rules know of header fields what the host's mapping says, and nothing else", .mayHang)
struct ContextTests {
  let router: Router

  init() throws {
    router = try Shop.router()
    try router.register("app://whole", exposure: .elevated) { [router] _ in
      try await router.open("app://inner")
    }
    try router.register("app://inner") { _ in "here" }
    let table = """
      { "version": 1, "name": "test", "rules": [
          { "name": "guests", "match": { "url": "app://book/:id" },
            "when": [ { "context": "user", "is": "guest" } ], "do": { "block": "no" } },
          { "name": "inside", "match": { "url": "app://inner" },
            "when": [ { "context": "user", "is": "guest" } ], "do": { "answer": "for guests" } } ] }
      """
    try router.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(table.utf8)))
  }

  private static let context: @Sendable (HTTPFields) -> Arguments = { fields in
    ["user": fields[.userAgent] ?? ""]
  }

  @Test("A rule asks about what the mapping makes of this request, and no parameter says otherwise")
  func context() async throws {
    try await serving(router, context: Self.context) { port in
      for (target, agent, status) in [
        ("/book/7", "guest", 403), ("/book/7", "admin", 200), ("/book/7?from=guest", "admin", 200),
      ] {
        let reply = try await Wire.reply(
          "GET \(target)", "User-Agent: \(agent)", "User: guest", from: port)
        #expect(reply?.status == status, "\(target) \(agent)")
      }
      // The handler's own calls are of this request too.
      for (agent, body) in [("guest", #""for guests""#), ("admin", #""here""#)] {
        let reply = try await Wire.reply("GET /whole", "User-Agent: \(agent)", from: port)
        #expect(reply?.body == body)
      }
      // No client makes this call.
      #expect(try await router.open("app://inner") as? String == "here")
    }
  }

  @Test("Requests at the same time have each its own")
  func concurrent() async throws {
    try await serving(router, context: Self.context) { port in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            let agent = number.isMultiple(of: 2) ? "guest" : "admin"
            let reply = try await Wire.reply("GET /book/7", "User-Agent: \(agent)", from: port)
            #expect(reply?.status == (agent == "guest" ? 403 : 200))
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("Without a mapping the router's own context stays, and fields reach no rule")
  func without() async throws {
    try await serving(router) { port in
      let reply = try await Wire.reply("GET /book/7", "User-Agent: guest", from: port)
      #expect(reply?.status == 200)
      router.calls.context { _ in ["user": "guest"] }
      #expect(try await Wire.reply("GET /book/7", from: port)?.status == 403)
    }
  }
}
