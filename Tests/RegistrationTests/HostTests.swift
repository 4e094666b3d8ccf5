import Registration
import Testing

/// A host as it is written, and what it is compared as; nil where it is refused.
///
/// The situations are those of urltestdata.json and toascii.json of web-platform-tests.
struct HostCase: CustomTestStringConvertible, Sendable {
  let written: String
  let text: String?
  var testDescription: String { "\(written) → \(text ?? "refused")" }

  init(_ written: String, _ text: String?) {
    self.written = written
    self.text = text
  }

  func check(_ rules: SchemeRules) {
    let bytes = Array(written.utf8)[...]
    do throws(Refusal) {
      #expect(try Authority(bytes, rules).host?.text == text)
    } catch {
      #expect(text == nil, "\(error.message)")
      #expect((0...bytes.count).contains(error.index))
    }
  }
}

@Suite("Hosts are compared in one form")
struct HostTests {
  static let web = SchemeRules(scheme: "https")

  @Test(
    "A name of http is in lower case and decoded once, or refused",
    arguments: [
      HostCase("example.com", "example.com"), HostCase("EXAMPLE.com", "example.com"),
      HostCase("ex%41mple.COM", "example.com"), HostCase("%65%78", "ex"),
      HostCase("example.com.", "example.com."), HostCase("a..b", "a..b"), HostCase("a_b", "a_b"),
      HostCase("-a-.b-", "-a-.b-"), HostCase("xn--nxasmq6b", "xn--nxasmq6b"),
      HostCase("XN--Fa-hia.example", "xn--fa-hia.example"), HostCase("a.b-c.d1", "a.b-c.d1"),
      HostCase("!\"$&'()*+,-.;=_`{}~", "!\"$&'()*+,-.;=_`{}~"), HostCase("1.2.3.4.a", "1.2.3.4.a"),
      HostCase("foo.0x4a.b", "foo.0x4a.b"), HostCase("0xg", "0xg"), HostCase("a1", "a1"),
      HostCase("localhost", "localhost"), HostCase("a%2Db", "a-b"),
      HostCase("", nil), HostCase(".", nil), HostCase("..", nil), HostCase("%2e", nil),
      HostCase("a b", nil), HostCase("a%20b", nil), HostCase("a%00b", nil), HostCase("a%7Fb", nil),
      HostCase("a%0Ab", nil), HostCase("a<b", nil), HostCase("a>b", nil), HostCase("a^b", nil),
      HostCase("a|b", nil), HostCase("a%7Cb", nil), HostCase("a%3Cb", nil), HostCase("a[b", nil),
      HostCase("a]b", nil), HostCase("a%5Bb", nil), HostCase("a%2Fb", nil), HostCase("a%5Cb", nil),
      HostCase("a%3Ab", nil), HostCase("a%40b", nil), HostCase("a%3Fb", nil),
      HostCase("a%23b", nil),
      HostCase("a%25b", nil), HostCase("a%2541", nil), HostCase("a%", nil), HostCase("a%4", nil),
      HostCase("a%zz", nil), HostCase("%ff", nil), HostCase("b\u{fc}cher.example", nil),
      HostCase("b%C3%BCcher.example", nil), HostCase("\u{ff10}.com", nil),
      HostCase("a\u{ad}b", nil), HostCase("\u{3002}", nil), HostCase("\u{212a}elvin", nil),
    ])
  func names(_ test: HostCase) { test.check(Self.web) }

  @Test(
    "A host of http whose last label is a number is an IPv4 address, or refused",
    arguments: [
      HostCase("127.0.0.1", "127.0.0.1"), HostCase("127.0.0.1.", "127.0.0.1"),
      HostCase("192.0x00A80001", "192.168.0.1"), HostCase("0300.0250.0.1", "192.168.0.1"),
      HostCase("0xC0A80001", "192.168.0.1"), HostCase("3232235521", "192.168.0.1"),
      HostCase("192.168.1", "192.168.0.1"), HostCase("127.1", "127.0.0.1"),
      HostCase("%30%78%63%30%2e%30%32%35%30.01", "192.168.0.1"), HostCase("0", "0.0.0.0"),
      HostCase("0x", "0.0.0.0"), HostCase("0X7F.1", "127.0.0.1"), HostCase("1.0x.2", "1.0.0.2"),
      HostCase("4294967295", "255.255.255.255"), HostCase("0xffffffff", "255.255.255.255"),
      HostCase("1.2.65535", "1.2.255.255"), HostCase("000000000000000000001", "0.0.0.1"),
      HostCase("255.255.255.255", "255.255.255.255"), HostCase("017700000001", "127.0.0.1"),
      HostCase("256.0.0.1", nil), HostCase("192.168.0.257", nil), HostCase("1.2.3.4.5", nil),
      HostCase("4294967296", nil), HostCase("0x100000000", nil), HostCase("1.2.65536", nil),
      HostCase("09", nil), HostCase("1.2.3.08", nil), HostCase("foo.09", nil),
      HostCase("foo.0x4", nil), HostCase("foo.1", nil), HostCase("foo.0x", nil),
      HostCase("a..1", nil), HostCase("1..2", nil), HostCase(".1", nil), HostCase("1.2.3.09.", nil),
      HostCase("99999999999999999999999999", nil), HostCase("1.99999999999999999999999999.1", nil),
      HostCase("0xffffffffffffffffffffffff1", nil),
    ])
  func numbers(_ test: HostCase) { test.check(Self.web) }

  static let addressCases = [
    HostCase("[::1]", "[::1]"), HostCase("[::]", "[::]"), HostCase("[1::]", "[1::]"),
    HostCase("[2001:DB8::1]", "[2001:db8::1]"), HostCase("[1:0::]", "[1::]"),
    HostCase("[0:0:0:0:0:0:0:1]", "[::1]"), HostCase("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]"),
    HostCase("[0:1:0:1:0:1:0:1]", "[0:1:0:1:0:1:0:1]"),
    HostCase("[1:0:0:1:0:0:0:1]", "[1:0:0:1::1]"),
    HostCase("[1:0:0:2:0:0:3:4]", "[1::2:0:0:3:4]"),
    HostCase("[::ffff:10.0.0.1]", "[::ffff:a00:1]"),
    HostCase("[::127.0.0.1]", "[::7f00:1]"), HostCase("[0:0:0:0:0:0:13.1.68.3]", "[::d01:4403]"),
    HostCase("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"),
    HostCase("[::2:3:4:5:6:7:8]", "[0:2:3:4:5:6:7:8]"),
    HostCase("[00ab::]", "[ab::]"), HostCase("[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]"),
    HostCase("[]", nil), HostCase("[:]", nil), HostCase("[:1]", nil), HostCase("[1:]", nil),
    HostCase("[::1.]", nil), HostCase("[:::]", nil), HostCase("[1::2::3]", nil),
    HostCase("[::1%25eth0]", nil), HostCase("[::1%eth0]", nil), HostCase("[12345::]", nil),
    HostCase("[1:2:3:4:5:6:7]", nil), HostCase("[1:2:3:4:5:6:7:8:9]", nil), HostCase("[g::1]", nil),
    HostCase("[::1:2:3:4:5:6:7:8]", nil), HostCase("[1:2:3:4:5:6:7:8::]", nil),
    HostCase("[::1.2.3]", nil), HostCase("[::1.2.3.4.5]", nil), HostCase("[::1.2.3.256]", nil),
    HostCase("[::01.2.3.4]", nil), HostCase("[::1.2.3.4x]", nil), HostCase("[::.1.2.3.4]", nil),
    HostCase("[1:2:3:4:5:6:7:1.2.3.4]", nil), HostCase("[::1:2:3:4:5:6:1.2.3.4]", nil),
    HostCase("[1.2.3.4]", nil), HostCase("[::1.2.3.4:5]", nil), HostCase("[www.a.b]", nil),
    HostCase("[::1", nil), HostCase("[::1]a", nil), HostCase("a[::1]", nil),
    HostCase("[[::1]]", nil),
    HostCase("[ ::1]", nil), HostCase("[\u{ff11}::]", nil),
  ]

  @Test("In brackets an IPv6 address is written in one way, or refused", arguments: addressCases)
  func addresses(_ test: HostCase) {
    for scheme in ["https", "app"] { test.check(SchemeRules(scheme: scheme)) }
  }

  @Test(
    "A host of another scheme is opaque: as it is written, what is outside ASCII as %XX",
    arguments: [
      HostCase("Shop", "Shop"), HostCase("sh%6Fp", "sh%6Fp"), HostCase("SH%6fP", "SH%6fP"),
      HostCase("caf\u{e9}", "caf%C3%A9"), HostCase("cafe\u{301}", "cafe%CC%81"),
      HostCase("caf%c3%a9", "caf%c3%a9"), HostCase("192.168.0.257", "192.168.0.257"),
      HostCase("0x7f", "0x7f"), HostCase("a%25b", "a%25b"), HostCase("a%20b", "a%20b"),
      HostCase("!\"$%26'()*+,-.;=_`{}~", "!\"$%26'()*+,-.;=_`{}~"), HostCase("a..b", "a..b"),
      HostCase("a b", nil), HostCase("a<b", nil), HostCase("a>b", nil), HostCase("a^b", nil),
      HostCase("a|b", nil), HostCase("a\\b", nil), HostCase("a[b", nil), HostCase("a]b", nil),
      HostCase("a%2Fb", nil), HostCase("a%5cb", nil), HostCase("a%40b", nil),
      HostCase("a%3Ab", nil),
      HostCase("a%3fb", nil), HostCase("a%23b", nil), HostCase("a%5B", nil), HostCase("a%00", nil),
      HostCase("a%ff", nil), HostCase("a%4", nil), HostCase(".", nil), HostCase("%2E%2e", nil),
    ])
  func opaque(_ test: HostCase) { test.check(SchemeRules(scheme: "app")) }

  @Test(
    "A user, a password, and a port without a host or beyond 65535 are refused",
    arguments: [
      ("a@b", "user"), ("a:b@c", "user"), ("@c", "user"), ("a@", "user"), ("a@b@c:1", "user"),
      (":80", "host"), ("a:65536", "65535"), ("a:8a", "65535"), ("a:1:2", "65535"),
      ("a:-1", "65535"),
      ("a:99999999999999999999", "65535"), ("[::1]80", "follow"), ("a:\u{ff11}", "65535"),
    ])
  func refusedAuthorities(_ written: String, _ reason: String) {
    for scheme in ["http", "app"] {
      let error = #expect(throws: Refusal.self) {
        try Authority(Array(written.utf8)[...], SchemeRules(scheme: scheme))
      }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
  }

  @Test("An opaque host and one of http are two keys, and no text leads to the second")
  func keys() throws {
    let bytes = Array("shop".utf8)[...]
    let keys = try [SchemeRules(scheme: nil), Self.web].map { try Host(bytes, $0).key(port: 80) }
    #expect(keys == ["shop:80", "//shop:80"])
    #expect(keys.map { String(Host.text(ofKey: $0)) } == ["shop:80", "shop:80"])
    #expect(Host.key(ofOpaque: "//shop:80") == "%2F%2Fshop%3A80")
    #expect(Host.key(ofOpaque: "%73hop") == "%2573hop")
    #expect(Host.key(ofOpaque: "caf\u{e9}-Shop") == "caf%C3%A9-Shop")
  }
}
