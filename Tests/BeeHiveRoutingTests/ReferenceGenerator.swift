import TestSupport

/// Random patterns and URLs that have much in common. They are the same in each run.
struct ReferenceGenerator: RandomNumberGenerator {
  private var numbers: SeededGenerator

  init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { numbers.next() }

  mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
  mutating func one<Value>(of values: [Value]) -> Value { values[number(0...values.count - 1)] }
  /// Returns true once in so many times.
  mutating func once(in times: Int) -> Bool { number(1...times) == 1 }

  private static let words = [
    "a", "b", "7", "4", "42", "4a", "A", "0", "1", "true", "1.5", "4.html", "a.html", ".html",
    "47.html", "é", "e\u{301}", "éa", "-4", "1e3", "621425b8-42d1-4ab4-9a58-1e69d708a84b",
  ]
  private static let hosts = [
    "a", "A", "b", "4", "localhost", "b.c", "B.C", "b.c:80", "b.c:81", "a:80", "[::1]", "[::1]:80",
    "é",
  ]
  private static let types: [ReferenceSegment.Kind: [String]] = [
    .uuid: ["UUID", "uuid"], .int: ["Int", "int"], .double: ["Double", "Float"],
    .bool: ["Bool", "bool"],
    .even: ["Even"], .short: ["Short"], .text: ["", "", "String"], .path: ["Path"],
  ]
  private static let values: [ReferenceSegment.Kind: [String]] = [
    .uuid: ["621425B8-42D1-4AB4-9A58-1E69D708A84B", "621425b8-42d1-4ab4-9a58-1e69d708a84b"],
    .int: ["7", "-7", "+4", "007", "42"], .double: ["1.5", ".5", "1e3", "-0.0", "42", "1e999"],
    .bool: ["true", "false", "0", "1", "True"], .even: ["4", "b2", "42"],
    .short: ["a", "7", "é", "e\u{301}"],
  ]

  // MARK: Patterns

  mutating func route() -> ReferenceRoute {
    while true {
      let route = anyRoute()
      // The router refuses a pattern with more forms.
      if route.forms.count <= 64, route.hasHosts { return route }
    }
  }

  private mutating func anyRoute() -> ReferenceRoute {
    var next = 0
    let isAbsolute = once(in: 3)
    var parts = parts(count: number(0...3), depth: 0, &next)
    if once(in: 4) {
      let end = ReferencePart.segment(segment(one(of: [.path, .rest]), &next))
      parts.append(once(in: 3) ? .optional([end]) : end)
    }
    if isAbsolute, once(in: 2) {
      parts.insert(.segment(ReferenceSegment(kind: .literal, prefix: one(of: Self.hosts))), at: 0)
    }
    return ReferenceRoute(
      scheme: one(of: [nil, nil, nil, "x", "y", "http"]), isAbsolute: isAbsolute,
      priority: once(in: 6) ? number(-1...1) : 0, isPrefix: once(in: 8), parts)
  }

  private mutating func parts(count: Int, depth: Int, _ next: inout Int) -> [ReferencePart] {
    (0..<count).map { _ in
      if depth < 3, once(in: 5) {
        return .optional(parts(count: number(1...2), depth: depth + 1, &next))
      }
      guard once(in: 2) else {
        return .segment(ReferenceSegment(kind: .literal, prefix: one(of: Self.words)))
      }
      return .segment(
        segment(
          one(of: [.uuid, .int, .int, .double, .bool, .even, .short, .text, .text, .text]), &next))
    }
  }

  private mutating func segment(
    _ kind: ReferenceSegment.Kind, _ next: inout Int
  ) -> ReferenceSegment {
    next += 1
    var segment = ReferenceSegment(
      kind: kind, name: "p\(next)", type: one(of: Self.types[kind] ?? [""]))
    guard kind != .path, kind != .rest else { return segment }
    if once(in: 4) { segment.prefix = one(of: ["4", "a", "é", "e\u{301}"]) }
    if once(in: 4) { segment.suffix = one(of: [".html", "4", "a"]) }
    // Without a type, letters and digits would be part of the name.
    if segment.suffix.count == 1, segment.type.isEmpty { segment.type = "String" }
    return segment
  }

  // MARK: URLs

  /// Returns a URL of words, or one for a form of a route. Now and then a word is changed.
  mutating func url(for routes: [ReferenceRoute]) -> ReferenceURL {
    var url = ReferenceURL(scheme: one(of: [nil, "x", "y", "z", "http"]), path: [], text: "")
    var texts = (0..<number(0...4)).map { _ in one(of: Self.words) }
    var host = once(in: 2) ? one(of: Self.hosts) : nil
    if !routes.isEmpty, !once(in: 4) {
      let route = one(of: routes)
      let form = one(of: route.forms)
      texts = form.flatMap { self.texts(of: $0) }
      if !texts.isEmpty, once(in: 6) { texts[number(0...texts.count - 1)] = one(of: Self.words) }
      if route.scheme != nil, !once(in: 8) { url.scheme = route.scheme }
      if route.isAbsolute || once(in: 4) { host = texts.isEmpty ? nil : texts.removeFirst() }
      if host?.contains("/") == true { host = one(of: Self.hosts) }
    }
    if url.scheme == "http" {
      // Each URL of http has an ASCII host. Without a chosen host, take one that does not count as path.
      if host == nil { host = one(of: ["localhost", "b.c", "B.C:80", "[::1]"]) }
      while host.flatMap({ ReferenceHost($0).web }) == nil { host = one(of: Self.hosts) }
    }
    url.path = texts.map { (once(in: 12) ? 2 : 1, $0) }
    url.text = url.scheme.map { (once(in: 4) ? $0.uppercased() : $0) + ":" } ?? ""
    if let host { take(host, into: &url) } else if !url.path.isEmpty { url.path[0].slashes = 1 }
    for piece in url.path {
      url.text += String(repeating: "/", count: piece.slashes) + encoded(piece.text)
    }
    // An empty text is not a URL.
    if url.text.isEmpty || once(in: 6) { url.text += url.path.isEmpty && host == nil ? "/" : "//" }
    return url
  }

  private mutating func texts(of segment: ReferenceSegment) -> [String] {
    switch segment.kind {
    case .literal: [segment.prefix]
    case .path: (0..<number(1...3)).map { _ in one(of: Self.words + ["b/c"]) }
    case .rest: (0..<number(0...3)).map { _ in one(of: Self.words + ["b/c"]) }
    default: [segment.prefix + one(of: Self.values[segment.kind] ?? Self.words) + segment.suffix]
    }
  }

  private mutating func take(_ host: String, into url: inout ReferenceURL) {
    let address = host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : nil
    let end = address ?? host.firstIndex(of: ":") ?? host.endIndex
    let name = host[..<end]
    let written = address == nil ? encoded(String(name)) : String(name)
    url.writtenHost = written
    url.host = url.scheme == "http" ? ReferenceHost(written).web : String(name)
    url.port = Int(host[end...].dropFirst())
    if url.scheme == "http", url.port == 80 { url.port = nil }
    url.text += "//" + written + host[end...]
  }

  /// Encodes a text for a URL: some of its bytes as `%XX`, and always its slashes.
  private mutating func encoded(_ text: String) -> String {
    let encodesAll = once(in: 8)
    let isEncoded = text.utf8.map {
      $0 == UInt8(ascii: "/") || encodesAll || $0 < 0x80 && once(in: 20)
    }
    guard isEncoded.contains(true) else { return text }
    let bytes = zip(text.utf8, isEncoded).flatMap { byte, isEncoded -> [UInt8] in
      guard isEncoded else { return [byte] }
      let digits = String(byte, radix: 16, uppercase: byte & 1 == 0)
      return Array((byte < 16 ? "%0" : "%").utf8) + Array(digits.utf8)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
