import TestSupport

/// URLs as an attacker writes them: good URLs with a few changes. They are the same in every run.
struct HostileURLs {
  /// The number of URLs that a test tries.
  static let count = Effort.times(4_000, full: 43_000)

  private let good: [[UInt8]]
  private var random: SeededGenerator

  /// Changes URLs that a router answers, at least for local calls.
  init(_ good: [String], seed: UInt64 = 0xbad) {
    self.good = good.map { Array($0.utf8) }
    random = SeededGenerator(seed: seed)
  }

  /// Returns the next URL, with one to four small changes and at times a large one.
  mutating func next() -> String {
    var url = one(of: good)
    for _ in 0..<number(1...4) { change(&url) }
    if number(1...50) == 1 { grow(&url) }
    // Bytes that are not UTF-8 are replaced, as if they came from a socket.
    return String(decoding: url, as: UTF8.self)
  }

  /// Texts to insert into a good URL, or to put over parts of it.
  static let pieces = [
    "/", "//", "///", "\\", "@", ":", ".", "..", "/../", "/./", "/..", "%2e%2e", "%2E", "..%2f",
    "?", "#", "&", "=", "+", "%", "%4", "%zz", "%00", "\0", "%ff", "%C3", "%ed%a0%80", "%c0%af",
    "%u002e", "%25", "%2525", "%2F", "%5c", "%40", "%3A", "%3a80", "%5B", "\r\n", "%0d%0a",
    "%0D%0AX:%20y", " ", "%20", "\t", "\u{7f}", "user:pw@", "@evil.example", "\\@", ":80", ":443",
    ":99999", ":-1", "[::1]", "[", "]", "<", ">", "|", "^", "\u{301}", "\u{200d}", "\u{ad}",
    "\u{202e}", "\u{feff}", "\u{ff0f}", "\u{2024}", "\u{1f41d}", "xn--", "0x7f.1", "native", "*",
    "(", ":id", "action", ";", "'", "\"", "%27--",
  ]

  static let starts = [
    "", "/", "//", "http:", "http://", "https:\\\\", "HTTP:/", "app:", "APP://", "app:///",
    "javascript:", "file:///", "app:app://", " app://", "app ://", "%61pp://", "://", ":", "?", "#",
    "\u{feff}app://",
  ]

  private mutating func change(_ url: inout [UInt8]) {
    let place = number(0...url.count)
    let end = min(url.count, place + number(1...4))
    switch number(0...9) {
    case 0, 1, 2: url.insert(contentsOf: one(of: Self.pieces).utf8, at: place)
    case 3: encode(&url, place..<min(url.count, place + 1))
    case 4: encode(&url, place..<end)
    case 5:
      for index in place..<end where (0x61...0x7a).contains(url[index] | 0x20) {
        url[index] ^= 0x20
      }
    case 6: url.replaceSubrange(place..<end, with: one(of: Self.pieces).utf8)
    case 7: url.insert(contentsOf: url[place..<end], at: place)
    case 8:
      // The start of one URL, the end of another.
      let other = one(of: good)
      url.replaceSubrange(place..., with: other[number(0...other.count)...])
    default:
      let behind = url.firstIndex(of: UInt8(ascii: ":")).map { $0 + number(1...3) } ?? 0
      url = Array(one(of: Self.starts).utf8) + url[min(behind, url.count)...]
    }
  }

  /// Writes some bytes as `%XX`, and at times encodes the new percent signs too.
  private mutating func encode(_ url: inout [UInt8], _ range: Range<Int>) {
    let isUppercase = number(0...1) == 0
    var text = url[range].map { byte in
      let digits = String(byte, radix: 16, uppercase: isUppercase)
      return (byte < 16 ? "%0" : "%") + digits
    }.joined()
    for _ in 0..<max(0, number(0...5) - 3) { text = text.replacing("%", with: "%25") }
    url.replaceSubrange(range, with: text.utf8)
  }

  private mutating func grow(_ url: inout [UInt8]) {
    let (piece, count) = one(of: [
      ("a", 9_000), ("/a", 70), ("/%2e", 70), ("&k=v", 300), ("%25", 3_000), ("..", 100),
      ("[", 5_000), ("1", 5_000), ("@", 5_000), ("\u{301}", 4_000), ("::", 3_000),
    ])
    let place = number(0...1) == 0 ? url.count : number(0...url.count)
    url.insert(contentsOf: String(repeating: piece, count: count).utf8, at: place)
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    .random(in: range, using: &random)
  }
  private mutating func one<Value>(of values: [Value]) -> Value {
    values[number(0...values.count - 1)]
  }
}
