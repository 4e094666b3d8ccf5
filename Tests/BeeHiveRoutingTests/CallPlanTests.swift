import BeeHiveRouting
import TestSupport
import Testing

@Suite("What explain prints and canOpen tests is what open does")
struct CallPlanTests {
  /// A parameter as a pattern writes it, and a handler's question for it.
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
    _ host: Int, _ random: inout Numbers
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
      let form = Int.random(in: 0..<3, using: &random)
      let missing = ["Int": "1", "Double": "1.5", "Bool": "true", "Month": "5", "String": "z"][type]
      asked.append(Asked(name: name, type: type, isOptional: form == 1))
      keys.append(
        form == 2 && missing != nil
          ? "\(name)<\(type)>=\(missing ?? "")" : "\(name)<\(type)\(form == 1 ? "?" : "")>")
      if form == 2 && missing == nil { asked[asked.count - 1].isOptional = false }
    }
    return (keys.isEmpty ? text : text + "?" + keys.joined(separator: "&"), asked)
  }

  private static func replacing(_ number: Int, _ random: inout Numbers) -> String {
    let key = ["a", "b", "p", "x", "y"].randomElement(using: &random) ?? ""
    let values = ["null", "5", #""x""#, "[1, 2]", "[]", "true"]
    let value = values.randomElement(using: &random) ?? ""
    return rule(
      "r\(number)", #"{"url": "app://h\#(Int.random(in: 0..<4, using: &random))/*"}"#,
      do: #"{"replace": {"\#(key)": \#(value)}}"#)
  }

  private static func url(_ random: inout Numbers) -> String {
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
      var random = Numbers(seed: seed)
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
    let router = Router()
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

  @Test(
    "A rule that takes away what a route needs, or gives it several values, is explained as the error"
  )
  func replaced() throws {
    let router = Router()
    try router.register("app://a/:id<Int>?x") { _ in }
    func explain(_ values: String) throws -> Explanation {
      let replacing = rule("r", #"{"url": "app://a/:id"}"#, do: #"{"replace": {\#(values)}}"#)
      try router.calls.load(table(replacing))
      return router.calls.explain("app://a/5")
    }
    let array = try explain(#""id": [1, 2]"#)
    #expect(array.error?.code == .wrongParameter)
    #expect(array.steps == ["table r: replace id"])
    let null = try explain(#""id": null"#)
    #expect(null.error?.code == .missingParameter)
    #expect(null.steps == ["table r: take away id"])
    let both = try explain(#""x": null, "id": 7"#)
    #expect(both.error == nil && both.steps == ["table r: replace id; take away x"])
  }

  /// Numbers that a seed determines.
  private struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }
}
