import BeeHiveRouting
import TestSupport
import Testing

@Suite("What explain prints and canOpen tests is what open does")
struct CallPlanTests {
  private let router = Router()

  /// A parameter as a pattern writes it, and how a handler reads it.
  private struct Asked: Sendable {
    var name: String
    var type: String
    var isOptional: Bool

    func ask(_ call: RouteCall) throws {
      switch type {
      case "Int": try ask(call, Int.self)
      case "Double": try ask(call, Double.self)
      case "Bool": try ask(call, Bool.self)
      case "UUID": try ask(call, UUIDValue.self)
      case "Path": try ask(call, String.self)
      case "Month": try ask(call, Int32.self)
      default: _ = call.parameters[raw: name]
      }
    }

    private func ask<Value: Sendable>(_ call: RouteCall, _ type: Value.Type) throws {
      if isOptional { _ = try call[name] as Value? } else { _ = try call[name] as Value }
    }
  }

  private static let types = ["Int", "Double", "Bool", "UUID", "Month", "String"]
  private static let texts = [
    "5", "x", "true", "07", "5.0", "", "-3", "1e3", "13", "99999999999999999999",
    "00000000-0000-0000-0000-000000000001",
  ]
  private static let values: [any Sendable] = [
    5, 5.5, "x", "5", true, [1, 2], ["a"], [String](), Int?.none as any Sendable,
    9_007_199_254_740_993,
    2.0, Int32(4), UUIDValue(urlText: texts[10]) as any Sendable, Router(),
    Router?.none as any Sendable,
  ]

  private static func pattern(
    _ host: Int, _ random: inout SeededGenerator
  ) -> (text: String, asked: [Asked]) {
    var (text, asked) = ("app://h\(host)", [Asked]())
    for name in ["a", "b"] where Bool.random(using: &random) {
      let type = types.randomElement(using: &random) ?? ""
      let isOptional = Bool.random(using: &random)
      text += isOptional ? "(/:\(name)<\(type)>)" : "/:\(name)<\(type)>"
      asked.append(Asked(name: name, type: type, isOptional: isOptional))
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      text += "/:p<Path>"
      asked.append(Asked(name: "p", type: "Path", isOptional: false))
    }
    var keys: [String] = []
    for name in ["x", "y"] where Bool.random(using: &random) {
      let type = types.randomElement(using: &random) ?? ""
      let missing = ["Int": "1", "Double": "1.5", "Bool": "true", "Month": "5", "String": "z"][type]
      let forms = [">", "?>"] + (missing.map { [">=\($0)"] } ?? [])
      let form = forms.randomElement(using: &random) ?? ""
      asked.append(Asked(name: name, type: type, isOptional: form == "?>"))
      keys.append("\(name)<\(type)\(form)")
    }
    return (keys.isEmpty ? text : text + "?" + keys.joined(separator: "&"), asked)
  }

  private static func replacing(_ number: Int, _ random: inout SeededGenerator) -> String {
    let key = ["a", "b", "p", "x", "y"].randomElement(using: &random) ?? ""
    let values = ["null", "5", #""x""#, "[1, 2]", "[]", "true"]
    let value = values.randomElement(using: &random) ?? ""
    return rule(
      "r\(number)", #"{"url": "app://h\#(Int.random(in: 0..<4, using: &random))/*"}"#,
      do: #"{"replace": {"\#(key)": \#(value)}}"#)
  }

  private static func url(_ random: inout SeededGenerator) -> String {
    var url = "app://h\(Int.random(in: 0..<4, using: &random))"
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      url += "/" + (texts.randomElement(using: &random) ?? "")
    }
    let items = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      let key = ["a", "p", "x", "y", "z"].randomElement(using: &random) ?? ""
      return "\(key)=\(texts.randomElement(using: &random) ?? "")"
    }
    return items.isEmpty ? url : url + "?" + items.joined(separator: "&")
  }

  @Test("Random patterns, rules, URLs and arguments: one answer or one error, with the same words")
  func agreement() async throws {
    var (answered, refused) = (0, [RoutingError.Code: Int]())
    for seed in 0..<UInt64(Effort.times(400, full: 20_000)) {
      var random = SeededGenerator(seed: seed)
      let router = Router()
      try router.define("Month") { Int32($0).flatMap { (1...12).contains($0) ? $0 : nil } }
      for host in 0..<3 {
        let (text, asked) = Self.pattern(host, &random)
        try router.register(text, exposure: .remote) { call in
          for parameter in asked { try parameter.ask(call) }
        }
      }
      let count = Int.random(in: 0...2, using: &random)
      try router.calls.load(table(of: (0..<count).map { Self.replacing($0, &random) }))
      for _ in 0..<15 {
        let url = Self.url(&random)
        let origin: CallOrigin = Bool.random(using: &random) ? .local : .remote
        var given: [String: any Sendable] = [:]
        if Bool.random(using: &random) {
          let key = ["a", "b", "p", "x", "y"].randomElement(using: &random) ?? ""
          given[key] = Self.values.randomElement(using: &random)
        }
        let plan = router.calls.explain(url, origin: origin, with: Arguments(given: given))
        var met: RoutingError?
        do { try await router.open(url, origin: origin, with: Arguments(given: given)) } catch {
          met = try #require(error as? RoutingError)
        }
        #expect(
          plan.error == met, "seed \(seed): \(origin) \(url) \(given) \(router.routes) \(plan)")
        if given.isEmpty { #expect(router.canOpen(url, origin: origin) == (met == nil)) }
        if let met { refused[met.code, default: 0] += 1 } else { answered += 1 }
      }
    }
    #expect(answered > 300, "\(refused)")
    #expect((refused[.wrongParameter] ?? 0) > 300 && (refused[.missingParameter] ?? 0) > 300)
  }

  @Test("A text or a value that a route's type does not hold is the plan's error, and no handler's")
  func unfit() throws {
    try router.register("app://a/:id<Int>", exposure: .remote) { _ in }
    try router.register("app://e?x<Int>", exposure: .remote) { _ in }
    try router.register("app://d/:p<Path>") { _ in }
    #expect(!router.canOpen("app://e?x=1&x=2", origin: .remote))
    for (url, arguments) in [
      ("app://e?x=1&x=2", [:]), ("app://e", ["x": 5.5]), ("app://e", ["x": "q"]),
      ("app://a/5", ["id": true]), ("app://d/x", ["p": 5]), ("app://e?x=1", ["x": Router()]),
    ] as [(String, Arguments)] {
      #expect(router.calls.explain(url, with: arguments).error?.code == .wrongParameter, "\(url)")
    }
  }

  @Test("A rule that takes away what a route needs, or gives too much, is explained as the error")
  func replaced() throws {
    try router.register("app://a/:id<Int>?x") { _ in }
    for (values, code, step) in [
      (#""id": [1, 2]"#, RoutingError.Code.wrongParameter, "replace id"),
      (#""id": null"#, .missingParameter, "take away id"),
      (#""x": null, "id": 7"#, nil, "replace id; take away x"),
    ] as [(String, RoutingError.Code?, String)] {
      try router.calls.load(
        table(rule("r", #"{"url": "app://a/:id"}"#, do: #"{"replace": {\#(values)}}"#)))
      let explanation = router.calls.explain("app://a/5")
      #expect(explanation.error?.code == code && explanation.steps == ["table r: \(step)"])
    }
  }
}
