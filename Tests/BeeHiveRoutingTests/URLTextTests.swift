import BeeHiveRouting
import Testing

/// Returns the parts of a URL: `scheme|host|port|path|query|fragment`.
private func summary(of url: URLText) -> String {
  let items = url.items.map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name }
  return [
    url.scheme ?? "", url.host ?? "", url.port.map(String.init) ?? "",
    url.path.joined(separator: "/"), items.joined(separator: "&"), url.fragment ?? "",
  ].joined(separator: "|")
}

@Suite("A URL is read by rules")
struct URLTextTests {
  @Test(
    "Parts",
    arguments: [
      ("app://shop/42", "app|shop||42||"),
      ("APP://Shop/Item", "app|Shop||Item||"),
      ("git+ssh.1-a://h/p", "git+ssh.1-a|h||p||"),
      ("/user/1", "|||user/1||"),
      ("user/1", "|||user/1||"),
      ("//shop/1", "|shop||1||"),
      ("app:shop/1", "app|||shop/1||"),
      ("app:///shop/1", "app|||shop/1||"),
      ("app://", "app|||||"),
      ("1app://x", "|||1app:/x||"),
      // Trailing slashes and empty segments do not count.
      ("app://shop/42/", "app|shop||42||"),
      ("app://shop//42///", "app|shop||42||"),
      ("app://shop/", "app|shop||||"),
      ("app://shop/42/?a=1", "app|shop||42|a=1|"),
      // Ports, IPv4 and IPv6 hosts.
      ("http://localhost:8080/a", "http|localhost|8080|a||"),
      ("http://127.0.0.1:1/", "http|127.0.0.1|1|||"),
      ("http://host:/a", "http|host||a||"),
      ("http://host:80/a", "http|host||a||"),
      ("https://host:443/a", "https|host||a||"),
      ("https://host:080/a", "https|host|80|a||"),
      ("app://host:80/a", "app|host|80|a||"),
      ("HTTP://SHOP.Example/A", "http|shop.example||A||"),
      ("http://0x7f.1/a", "http|127.0.0.1||a||"),
      ("app://0x7f.1/a", "app|0x7f.1||a||"),
      ("http://[::1]/a", "http|::1||a||"),
      ("http://[2001:db8::1]:65535/a", "http|2001:db8::1|65535|a||"),
      ("http://[::ffff:10.0.0.1]", "http|::ffff:a00:1||||"),
      // For http and https a backslash is a slash in front of the query, and a character elsewhere.
      (#"http:\\shop.example\a\\b/c"#, "http|shop.example||a/b/c||"),
      (#"http://evil.example\@shop.example/b"#, "http|evil.example||@shop.example/b||"),
      (#"https://a/b?k=c\d#e\f"#, #"https|a||b|k=c\d|e\f"#),
      (#"app://a/b\c"#, #"app|a||b\c||"#),
      (#"/a\b"#, #"|||a\b||"#),
      // Percent-encoding is undone once, in each part by itself.
      ("app://a/b%20c", "app|a||b c||"),
      ("app://a/%2e%2E%2e", "app|a||...||"),
      ("app://a/100%25", "app|a||100%||"),
      ("app://a/%2525", "app|a||%25||"),
      ("app://a/x?k%3D=v%26w", "app|a||x|k==v&w|"),
      ("app://a/x#f%23", "app|a||x||f#"),
      ("app://%61b/x", "app|ab||x||"),
    ])
  func parts(_ url: String, _ parts: String) throws {
    #expect(try summary(of: URLText(url)) == parts)
  }

  @Test("An encoded slash stays inside its segment")
  func encodedSlash() throws {
    #expect(try URLText("app://a/b%2Fc/d").path == ["b/c", "d"])
  }

  @Test("Composed and decomposed characters are equal, encoded or not")
  func unicode() throws {
    let spellings = ["app://a/caf\u{e9}", "app://a/cafe\u{301}", "app://a/caf%C3%A9"]
    for spelling in spellings { #expect(try URLText(spelling).path == ["café"]) }
    #expect(try URLText("app://搜索/中文?词=值").items == [.init(name: "词", value: "值")])
    #expect(try URLText("app://a/É").path != URLText("app://a/é").path)
  }

  @Test("A plus is a blank in a query and a plus everywhere else")
  func plus() throws {
    let url = try URLText("app://a+b/c+d?k+1=v+w%2B#f+g")
    #expect(url.host == "a+b")
    #expect(url.path == ["c+d"])
    #expect(url.items == [.init(name: "k 1", value: "v w+")])
    #expect(url.fragment == "f+g")
    let kept = try URLText("app://a?k=v+w", plusIsBlank: false)
    #expect(kept.values(of: "k") == ["v+w"])
  }

  @Test("Repeated keys are kept in order; empty and absent values differ")
  func queries() throws {
    let url = try URLText("app://a?k=1&k=2&&e=&n&=x&k=3=4")
    #expect(url.values(of: "k") == ["1", "2", "3=4"])
    #expect(url.items.first { $0.name == "e" }?.value == .some(""))
    #expect(url.items.contains(.init(name: "n", value: nil)))
    #expect(url.values(of: "n") == [""])
    #expect(url.values(of: "") == ["x"])
    #expect(url.values(of: "absent").isEmpty)
  }

  @Test("A URL may be a value of a query, encoded or not")
  func nested() throws {
    #expect(
      try URLText("app://open?next=app://x/y?z=1&a=b").items == [
        .init(name: "next", value: "app://x/y?z=1"), .init(name: "a", value: "b"),
      ])
    let encoded = try URLText("app://open?next=app%3A%2F%2Fx%3Fz%3D1%26w%3D2%23f")
    #expect(encoded.values(of: "next") == ["app://x?z=1&w=2#f"])
  }

  @Test("A fragment ends the query, and may have parameters of its own")
  func fragments() throws {
    let url = try URLText("app://a?k=v#x=1&y#z?w")
    #expect(url.values(of: "k") == ["v"])
    #expect(url.fragment == "x=1&y#z?w")
    #expect(url.fragmentItems == [.init(name: "x", value: "1"), .init(name: "y#z?w", value: nil)])
    #expect(
      try URLText("app://a#k=\u{301}v&\u{301}w").fragmentItems == [
        .init(name: "k", value: "\u{301}v"), .init(name: "\u{301}w", value: nil),
      ])
    #expect(
      try URLText("app://a#k=a%26b%3Dc&%C3%BC=+").fragmentItems == [
        .init(name: "k", value: "a&b=c"), .init(name: "ü", value: "+"),
      ])
    #expect(try URLText("app://a#k%3Dv").fragmentItems == [])
    #expect(try URLText("app://a#").fragment == "")
    #expect(try URLText("app://a").fragment == nil)
  }

  @Test(
    "What is no URL is refused with the place and the rule",
    arguments: [
      ("app://a/%", "byte 8"), ("app://a/%4", "byte 8"), ("app://a/%zz", "byte 8"),
      ("app://a/%ff", "UTF-8"), ("app://a/%ed%a0%80", "UTF-8"), ("app://a?k=%c3", "UTF-8"),
      ("app://a/b%00", "%00"), ("app://a/b c", "byte 9"), ("app://a/b\nc", "byte 9"),
      ("app://a/../b", "climbs"), ("app://a/%2e%2E/b", "climbs"), ("app://a/./b", "climbs"),
      ("app://../b", "climbs"), ("app://a%2Fb/c", "slash"), (#"http://a/b\..\c"#, "climbs"),
      ("", "empty"), ("http://host%2Fx", "slash"), ("http://a<b", "no <"), ("app://a<b", "no <"),
      (#"app://a\b/c"#, #"no \"#), ("http://caf\u{e9}/", "xn--"), ("http://192.168.0.257", "IPv4"),
      ("http:///a", "host"), ("http:/a", "host"), ("https:a", "host"), ("http://", "host"),
      ("https://?q", "host"), ("http://:80/", "host"), ("app://:80/", "host"),
      ("http://user:pass@host/", "user"), ("app://user@host/a", "user"), ("//user@host/a", "user"),
      (#"app://evil\@shop/b"#, "user"), ("http://a@b/c", "user"), ("http://@b/c", "user"),
      ("http://[:]", "hexadecimal"), ("http://[::1.]", "hexadecimal"),
      ("http://shop.example%3A8080/a", "no :"),
      ("http://a:99999/", "65535"), ("http://a:8a/", "65535"), ("http://a:1:2/", "65535"),
      ("http://[::1/a", "no ]"), ("http://[::1]x/a", "follow ]"), ("http://[zz]/a", "hexadecimal"),
    ])
  func malformed(_ url: String, _ reason: String) {
    expectError(.malformedURL, saying: reason) { try URLText(url) }
  }

  @Test("Length, depth and number of parameters are limited")
  func limits() throws {
    let limits = URLLimits(bytes: 40, segments: 3, items: 2)
    // The host counts as a segment.
    for url in ["app://a/b/c?e=1&f=2", "app:/b/c/d"] { _ = try URLText(url, limits: limits) }
    for url in [
      "app://a/" + String(repeating: "b", count: 40), "app://a/b/c/d", "app:/b/c/d/e",
      "app://a?e=1&f=2&g=3",
    ] {
      expectError(.limitExceeded) { try URLText(url, limits: limits) }
    }
  }
}
