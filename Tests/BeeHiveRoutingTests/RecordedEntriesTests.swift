import BeeHiveRouting
import CRoutes
import Foundation
import Testing

/// The records are in `Tests/Fixtures/CRoutes`. This program links them.
@Suite("Targets and routes that an image declares are there without a call")
struct RecordedEntriesTests {
  let hive = Hive.process

  init() { c_routes_link() }

  @Test("A C action: typed arguments in, a value out")
  func actions() async throws {
    #expect(try await hive.mediator.perform("c_shop", "stock", ["sku": "abc"], as: Int.self) == 3)
    let six: Int = try await hive.mediator.perform("c_shop", "stock", ["sku": "ab", "count": 3])
    #expect(six == 6)
    #expect(
      try await hive.mediator.perform("c_shop", "echo", ["a": true], as: String.self)
        == "echo - a:1=1/0 c:4=x0/0")
    #expect(
      try await hive.mediator.perform(
        "c_shop", "echo", ["a": false, "b": 1.5, "c": "ü"], as: String.self)
        == "echo - a:1=0/0 b:3=0/1.5 c:4=ü0/0")
    try await hive.mediator.perform("c_shop", "nothing", as: Void.self)
  }

  @Test("Checked before C is called, and the function's own failure is an error with its words")
  func failures() async throws {
    for (action, arguments, code, text) in [
      ("stock", [:], RoutingError.Code.missingParameter, "sku"),
      ("stock", ["sku": 7], .wrongParameter, "String"),
      ("stock", ["sku": "a", "x": 1], .undeclaredParameter, "stock(sku: String"),
      ("lie", [:], .wrongResult, "declares Int, and its function returned a value of type String"),
      ("forget", [:], .wrongResult, "declares String, and its function returned nothing"),
      ("missing", [:], .noAction, "echo, forget, lie, nothing, stock"),
    ] as [(String, Arguments, RoutingError.Code, String)] {
      await expectError(code, saying: text) {
        try await hive.mediator.perform("c_shop", action, arguments)
      }
    }
  }

  @Test(
    "The rest of a path comes to C as one text, so a segment of it with a slash is refused",
    arguments: ["a%2F..%2Fb", "a/..%5Cb", "%2Fetc"])
  func climbing(_ rest: String) async throws {
    for url in ["croutes://echo/7/\(rest)", "croutes://open/\(rest)"] {
      await expectError(.refused, saying: "slash or leads up") { try await hive.router.open(url) }
    }
    for given in ["../b", "/etc"] as [any Sendable] + [["..", "b"]] {
      await expectError(.refused, saying: "slash or leads up") {
        try await hive.router.open("croutes://echo/7", with: ["*": given])
      }
    }
  }

  @Test("A text of a C function that is not UTF-8 is refused, not repaired")
  func garbled() async throws {
    await expectError(.refused, saying: "the text of its reply is not UTF-8") {
      try await hive.router.open("croutes://garbled")
    }
  }

  @Test("Integers of every width are numbers in C, and so are floats")
  func numbers() async throws {
    let answer = try await hive.router.object(
      for: "croutes://values/7", as: String.self,
      with: ["a": UInt8(8), "b": Int64(-9), "c": UInt64.max, "d": Float(1)])
    #expect(answer == " n:2=7 rest a:2=8 b:2=-9 c:4=184467440737095516150 d:3=0")
  }

  @Test(
    "C routes, local and from outside",
    arguments: [
      ("croutes://stock/abcd?count=2", CallOrigin.remote, "8"),
      (
        "croutes://echo/7/a/b", .local,
        "croutes://echo/:n<Int>/* croutes://echo/7/a/b n:2=7/0 *:4=a/b0/0"
      ),
      ("croutes://files/x/y", .local, "croutes://files croutes://files/x/y"),
      // Repeated keys, segments, and keys that are not declared have their values one by one.
      (
        "croutes://values/7/a/b?tag=x&tag=y&more=1&also=", .local,
        " n:2=7 rest:4=a0:4=b0 tag:4=x0:4=y0 also:4=0 more:4=10"
      ),
      ("croutes://c_shop/stock?sku=abc", .remote, "3"),
      (
        "croutes://c_shop/echo?a=1&b=0.5", .local,
        "echo croutes://c_shop/echo?a=1&b=0.5 a:1=1/0 b:3=0/0.5 c:4=x0/0"
      ),
    ])
  func routes(_ url: String, _ origin: CallOrigin, _ answer: String) async throws {
    let result = try await hive.router.open(url, origin: origin)
    #expect("\(result)" == answer)
  }

  @Test("The allow-list holds for C too")
  func remote() async {
    #expect(await hive.router.failure("croutes://files/x", origin: .remote) == .notRemote)
    #expect(await hive.router.failure("croutes://c_shop/nothing", origin: .remote) == .notRemote)
  }

  @Test("Every record is listed; what cannot be is rejected with its reason")
  func entries() throws {
    _ = hive.router.routes
    var states = hive.states.filter { $0.key.hasPrefix("croutes:") || $0.key.hasPrefix("c_") }
    // The linker decides which of two routes of one shape comes first.
    let twins = ["croutes://twin/:first", "croutes://twin/:second"]
    #expect(Set(twins.compactMap { states[$0] }) == ["bound", "rejected duplicate"])
    for name in twins { states[name] = nil }
    #expect(
      states == [
        "c_shop": "bound", "croutes://stock/:sku?count<Int>": "bound",
        "croutes://echo/:n<Int>/*": "bound", "croutes://files": "bound",
        "croutes://values/:n<Int>/*rest?tag&*": "bound", "croutes://garbled": "bound",
        "croutes://open?*": "bound",
        "croutes://:": "rejected bad-pattern", "croutes://gone/:id": "rejected unknown-type",
        "c_odd": "rejected unknown-type",
        "c_page": "rejected unknown-type", "c_lost": "rejected failed",
      ])
  }

  @Test("A target whose action has no function is rejected, and its callers read why")
  func lost() async {
    await expectError(.noTarget, saying: "its table has no function absent") {
      try await hive.mediator.perform("c_lost", "stock")
    }
  }

  @Test("A URL of a route that was rejected is refused with the reason for that")
  func rejectedRoute() async {
    await expectError(.noRoute, saying: "a result in C is a String") {
      try await hive.router.open("croutes://gone/7")
    }
    #expect(await hive.router.failure("croutes://gone/7", origin: .remote) == .noRoute)
  }

  @Test("The catalogue has every interface with its parameters, its mark and its image")
  func catalogue() throws {
    let catalogue = hive.catalogue()
    let stock = try #require(catalogue.interfaces.first { $0.name == "c_shop.stock" })
    #expect(stock.exposure == .remote && stock.result == "Int")
    #expect(stock.declaration == "stock(sku: String, count: Int = 1) throws -> Int")
    let parameters = stock.parameters.map {
      "\($0.name) \($0.type) \($0.isOptional) \($0.default ?? "-")"
    }
    #expect(parameters == ["sku String false -", "count Int true 1"])
    #expect(stock.origin.contains("BeehiveRecords["))
    #expect(
      catalogue.description.contains("action remote c_shop.stock(sku: String, count: Int = 1)"))
    #expect(catalogue.description.contains("route  local  croutes://echo/:n<Int>/*"))
  }
}
