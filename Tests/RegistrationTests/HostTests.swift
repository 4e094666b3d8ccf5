import Registration
import Testing

/// A host as it is written, and the text that represents it in comparisons; nil if it is refused.
///
/// The cases come from urltestdata.json and toascii.json of web-platform-tests.
struct HostCase: CustomTestStringConvertible, Sendable {
  let written: String
  let text: String?
  var testDescription: String { "\(written) → \(text ?? "refused")" }

  /// Returns hosts that are compared as another text, as they are written, and not at all.
  static func all(
    _ texts: KeyValuePairs<String, String>, same: [String], refused: [String]
  ) -> [HostCase] {
    texts.map { HostCase(written: $0, text: $1) } + same.map { HostCase(written: $0, text: $0) }
      + refused.map { HostCase(written: $0, text: nil) }
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
    arguments: HostCase.all(
      [
        "EXAMPLE.com": "example.com", "ex%41mple.COM": "example.com", "%65%78": "ex",
        "XN--Fa-hia.example": "xn--fa-hia.example", "a%2Db": "a-b",
      ],
      same: [
        "example.com", "example.com.", "a..b", "a_b", "-a-.b-", "xn--nxasmq6b", "a.b-c.d1",
        "!\"$&'()*+,-.;=_`{}~", "1.2.3.4.a", "foo.0x4a.b", "0xg", "a1", "localhost",
      ],
      refused: [
        "", ".", "..", "%2e", "a b", "a%20b", "a%00b", "a%7Fb", "a%0Ab", "a<b", "a>b", "a^b", "a|b",
        "a%7Cb", "a%3Cb", "a[b", "a]b", "a%5Bb", "a%2Fb", "a%5Cb", "a%3Ab", "a%40b", "a%3Fb",
        "a%23b", "a%25b", "a%2541", "a%", "a%4", "a%zz", "%ff", "b\u{fc}cher.example",
        "b%C3%BCcher.example", "\u{ff10}.com", "a\u{ad}b", "\u{3002}", "\u{212a}elvin",
      ]))
  func names(_ test: HostCase) { test.check(Self.web) }

  @Test(
    "A host of http whose last label is a number is an IPv4 address, or refused",
    arguments: HostCase.all(
      [
        "127.0.0.1.": "127.0.0.1", "192.0x00A80001": "192.168.0.1", "0300.0250.0.1": "192.168.0.1",
        "0xC0A80001": "192.168.0.1", "3232235521": "192.168.0.1", "192.168.1": "192.168.0.1",
        "127.1": "127.0.0.1", "%30%78%63%30%2e%30%32%35%30.01": "192.168.0.1", "0": "0.0.0.0",
        "0x": "0.0.0.0", "0X7F.1": "127.0.0.1", "1.0x.2": "1.0.0.2",
        "4294967295": "255.255.255.255", "0xffffffff": "255.255.255.255",
        "1.2.65535": "1.2.255.255", "000000000000000000001": "0.0.0.1", "017700000001": "127.0.0.1",
      ],
      same: ["127.0.0.1", "255.255.255.255"],
      refused: [
        "256.0.0.1", "192.168.0.257", "1.2.3.4.5", "4294967296", "0x100000000", "1.2.65536", "09",
        "1.2.3.08", "foo.09", "foo.0x4", "foo.1", "foo.0x", "a..1", "1..2", ".1", "1.2.3.09.",
        "99999999999999999999999999", "1.99999999999999999999999999.1",
        "0xffffffffffffffffffffffff1",
      ]))
  func numbers(_ test: HostCase) { test.check(Self.web) }

  static let addressCases = HostCase.all(
    [
      "[2001:DB8::1]": "[2001:db8::1]", "[1:0::]": "[1::]", "[0:0:0:0:0:0:0:1]": "[::1]",
      "[1:0:0:1:0:0:0:1]": "[1:0:0:1::1]", "[1:0:0:2:0:0:3:4]": "[1::2:0:0:3:4]",
      "[::ffff:10.0.0.1]": "[::ffff:a00:1]", "[::127.0.0.1]": "[::7f00:1]",
      "[0:0:0:0:0:0:13.1.68.3]": "[::d01:4403]", "[1:2:3:4:5:6:7::]": "[1:2:3:4:5:6:7:0]",
      "[::2:3:4:5:6:7:8]": "[0:2:3:4:5:6:7:8]", "[00ab::]": "[ab::]",
      "[1:2:3:4:5:6:1.2.3.4]": "[1:2:3:4:5:6:102:304]",
    ],
    same: ["[::1]", "[::]", "[1::]", "[1:2:3:4:5:6:7:8]", "[0:1:0:1:0:1:0:1]"],
    refused: [
      "[]", "[:]", "[:1]", "[1:]", "[::1.]", "[:::]", "[1::2::3]", "[::1%25eth0]", "[::1%eth0]",
      "[12345::]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[g::1]", "[::1:2:3:4:5:6:7:8]",
      "[1:2:3:4:5:6:7:8::]", "[::1.2.3]", "[::1.2.3.4.5]", "[::1.2.3.256]", "[::01.2.3.4]",
      "[::1.2.3.4x]", "[::.1.2.3.4]", "[1:2:3:4:5:6:7:1.2.3.4]", "[::1:2:3:4:5:6:1.2.3.4]",
      "[1.2.3.4]", "[::1.2.3.4:5]", "[www.a.b]", "[::1", "[::1]a", "a[::1]", "[[::1]]", "[ ::1]",
      "[\u{ff11}::]",
    ])

  @Test("In brackets an IPv6 address is written in one way, or refused", arguments: addressCases)
  func addresses(_ test: HostCase) {
    for scheme in ["https", "app"] { test.check(SchemeRules(scheme: scheme)) }
  }

  @Test(
    "A host of another scheme is opaque: as it is written, what is outside ASCII as %XX",
    arguments: HostCase.all(
      ["caf\u{e9}": "caf%C3%A9", "cafe\u{301}": "cafe%CC%81"],
      same: [
        "Shop", "sh%6Fp", "SH%6fP", "caf%c3%a9", "192.168.0.257", "0x7f", "a%25b", "a%20b",
        "!\"$%26'()*+,-.;=_`{}~", "a..b",
      ],
      refused: [
        "a b", "a<b", "a>b", "a^b", "a|b", "a\\b", "a[b", "a]b", "a%2Fb", "a%5cb", "a%40b", "a%3Ab",
        "a%3fb", "a%23b", "a%5B", "a%00", "a%ff", "a%4", ".", "%2E%2e",
      ]))
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
