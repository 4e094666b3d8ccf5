import BeeHiveRouting
import TestSupport
import Testing

@Suite("A typed parameter takes the texts of its type, and no other")
struct SegmentTypesTests {
  private let router = Router()

  @Test(
    "Spellings, in a path and in a query",
    arguments: [
      ("Bool", "true", "true"), ("Bool", "false", "false"), ("Bool", "1", "true"),
      ("Bool", "0", "false"), ("bool", "1", "true"), ("Bool", "TRUE", nil), ("Bool", "True", nil),
      ("Bool", "yes", nil), ("Bool", "no", nil), ("Bool", "on", nil), ("Bool", "2", nil),
      ("Bool", "01", nil), ("Bool", "-1", nil), ("Bool", "t", nil), ("Bool", "true%20", nil),
      ("Bool", "tru%65", "true"), ("Bool", "１", nil), ("Int", "7", "7"), ("Int", "-7", "-7"),
      ("Int", "%2B7", "7"), ("Int", "007", "7"),
      ("Int", "9223372036854775807", "9223372036854775807"), ("Int", "9223372036854775808", nil),
      ("Int", "7.0", nil), ("Int", "0x7", nil), ("Int", "٧", nil), ("Int", "1_000", nil),
      ("Double", "1.5", "1.5"), ("Double", "7", "7.0"), ("Double", "-.5", "-0.5"),
      ("Double", "1e3", "1000.0"), ("Double", "1e400", nil), ("Double", "nan", nil),
      ("Double", "inf", nil), ("Double", "0x1p3", nil), ("Double", "1,5", nil),
      ("Double", "--1", nil), ("Double", "e", nil), ("Float", "0.1", "0.1"),
      ("UUID", "621425b8-42d1-4ab4-9a58-1e69d708a84b", "621425B8-42D1-4AB4-9A58-1E69D708A84B"),
      ("UUID", "621425b842d14ab49a581e69d708a84b", nil),
      ("UUID", "{621425b8-42d1-4ab4-9a58-1e69d708a84b}", nil),
      ("UUID", "621425b8-42d1-4ab4-9a58-1e69d708a84g", nil),
      ("String", "true", "true"),
    ] as [(String, String, String?)])
  func spellings(_ type: String, _ text: String, _ value: String?) async throws {
    let router = try Router().answering("/path/:x<\(type)>", "/query?x<\(type)>")
    let path = value.map { "/path/:x<\(type)> x=\($0)" }
    #expect(await router.answer("/path/\(text)") == path)
    #expect(router.canOpen("/path/\(text)") == (path != nil))
    let answer = await router.answer("/query?x=\(text)")
    #expect((answer != nil) == (path != nil), "\(answer ?? "refused")")
    if path == nil {
      #expect(await router.failure("/path/\(text)") == .noRoute)
      #expect(await router.failure("/query?x=\(text)") == .wrongParameter)
    }
  }

  @Test("A truth value: a bare key is true, no segment is none; the handler gets a Bool")
  func truth() async throws {
    for pattern in ["/is/:on<Bool>", "/with?on<Bool>", "/may?on<Bool>=false", "/can?on<Bool?>"] {
      try router.register(pattern) { call in
        "\(try call.parameters.value("on", as: Bool?.self) as Any)"
      }
    }
    for (url, answer) in [
      ("/is/1", "Optional(true)"), ("/is/false", "Optional(false)"),
      ("/with?on", "Optional(true)"), ("/with?on=", "Optional(true)"),
      ("/with?on=0", "Optional(false)"), ("/may", "Optional(false)"), ("/may?on", "Optional(true)"),
      ("/can", "nil"), ("/can?on=1", "Optional(true)"),
    ] { #expect(await router.answer(url) == answer, "\(url)") }
    for (url, code) in [
      ("/is", RoutingError.Code.noRoute), ("/is/", .noRoute), ("/is/yes", .noRoute),
      ("/with", .missingParameter), ("/with?on=yes", .wrongParameter),
      ("/with?on=1&on=0", .wrongParameter), ("/may?on=2", .wrongParameter),
    ] { #expect(await router.failure(url) == code, "\(url)") }
    #expect(throws: RoutingError.self) { try router.answering("/no?on<Bool>=maybe") }
  }

  @Test(
    "URLs of typed patterns: the value's own spelling, which leads back to it",
    arguments: [
      ("/is/:x<Bool>", true, "/is/true"), ("/is/:x<Bool>", false, "/is/false"),
      ("/is/:x<Bool>", "1", "/is/1"), ("/q?x<Bool>", false, "/q?x=false"),
      ("/v:x<Bool>.txt", true, "/vtrue.txt"), ("/n/:x<Int>", 7, "/n/7"),
      ("/n/:x<Int>", "007", "/n/007"), ("/n/:x<Double>", 0.1, "/n/0.1"),
      ("/n/:x<Float>", -2.0, "/n/-2.0"), ("/q?x<Int>", -7, "/q?x=-7"), ("/n/:x<Double>", 3, "/n/3"),
      ("/a(/b(/:n<Int>))/*x", ["7"], "/a/7"),
    ] as [(String, any URLConvertible, String)])
  func generation(_ pattern: String, _ value: any URLConvertible, _ url: String) throws {
    #expect(try RoutePattern(pattern).url(with: ["x": value]) == url)
    #expect(try Router().answering(pattern).canOpen(url))
  }

  @Test(
    "A value of another type makes no URL",
    arguments: [
      ("/is/:x<Bool>", "yes"), ("/is/:x<Bool>", 2), ("/q?x<Bool>", "yes"), ("/n/:x<Int>", "x"),
      ("/n/:x<Int>", 1.5), ("/n/:x<Double>", Double.nan), ("/n/:x<UUID>", "7"),
      ("/q?x<Int>=1", "x"), ("/q?x<Int>", [1, 2].map { "n\($0)" }), ("/v:x<Int>.txt", "x"),
    ] as [(String, any URLConvertible)])
  func ungenerated(_ pattern: String, _ value: any URLConvertible) throws {
    expectError(.wrongParameter, key: "x") { try RoutePattern(pattern).url(with: ["x": value]) }
  }

  @Test(
    "Nor do values that the URL would give to other names",
    arguments: [
      ("/a(/:b)(/:c)", ["c": "x"], "b"),
      ("/a(/:b<Int>)(/:c)", ["c": "7"], "b"),
      ("/a(/:b)/c(/:d<Int>)", ["b": "..", "d": "7"], "b"),
      ("/a(/:b<Int>)(/*)", ["b": "x", "*": "7"], "b"),
      ("/files/:p<Path>", ["p": "/x"], "p"), ("/files/:p<Path>", ["p": "x/"], "p"),
      ("/:p<Path>", ["p": "/x"], "p"),
    ] as [(String, [String: String], String)])
  func ambiguous(_ pattern: String, _ values: [String: String], _ key: String) throws {
    expectError(.wrongParameter, key: key) { try RoutePattern(pattern).url(with: values) }
  }

  @Test("A converter that reads a default may use the router: no lock is held", .mayHang)
  func converterAsks() throws {
    try router.define("Known") { text in router.routes.isEmpty ? nil : text }
    #expect(throws: RoutingError.self) { try router.answering("/a?k<Known>=b") }
    try router.answering("/c")
    try router.answering("/a?k<Known>=b")
  }
}
