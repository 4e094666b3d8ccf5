import BeeHiveRouting
import Testing

@Suite("A URL is made of parts that are not encoded")
struct URLTextSegmentsTests {
  @Test(
    "Reading it gives the parts back",
    arguments: [
      ["book", "7"], ["shop", "x@book:99", "[::1]"], ["a!b", "c/d", "e?f#g"],
      ["%41", "%2F"], ["é", "日本", "a\u{301}"], [],
    ])
  func segments(_ segments: [String]) throws {
    let items = [
      URLText.Item(name: "a&b", value: "c=d#e+f g"), URLText.Item(name: "none", value: nil),
      URLText.Item(name: "a&b", value: ""),
    ]
    let url = try URLText(scheme: "app", segments: segments, items: items)
    #expect((url.host.map { [$0] } ?? []) + url.path == segments, "\(url)")
    #expect(url.items == items && url.port == nil && url.fragment == nil, "\(url)")
    #expect(try URLText(url.text) == url)
  }

  @Test(
    "What a URL cannot hold is refused",
    arguments: [
      ["", "a"], ["a", ""], ["a", ".."], [".", "a"], ["a/b", "c"], ["a", "b\0"], ["x@book", "7"],
      ["book:99", "7"],
      ["[::1]", "a"],
    ])
  func refused(_ segments: [String]) {
    expectError(.malformedURL) { try URLText(scheme: "app", segments: segments) }
  }

  @Test("A scheme is a word", arguments: ["", "1app", "app:", "a/b", "app://x"])
  func schemes(_ scheme: String) {
    #expect(throws: RoutingError.self) { try URLText(scheme: scheme, segments: ["a"]) }
  }

  @Test("It is as long as the limits allow")
  func limits() throws {
    let limits = URLLimits(bytes: 12)
    #expect(try URLText(scheme: "app", segments: ["book", "7"], limits: limits).path == ["7"])
    expectError(.limitExceeded) {
      try URLText(scheme: "app", segments: ["book", "70"], limits: limits)
    }
  }
}
