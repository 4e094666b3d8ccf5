/// Reads the parts of a URL out of its bytes; `URLText` has the rules.
struct URLScanner {
  private(set) var bytes: [UInt8]
  let limits: URLLimits

  /// Reads a text.
  init(_ text: String, limits: URLLimits = URLLimits()) {
    bytes = Array(text.utf8)
    self.limits = limits
  }

  /// Makes a slash of what is one by the rules of a scheme.
  mutating func cut(_ range: Range<Int>, by rules: SchemeRules) {
    guard rules.isWeb else { return }
    for index in range { bytes[index] = rules.cut(bytes[index]) }
  }

  /// Refuses what no part of a URL may hold.
  func check() throws(RoutingError) {
    try RoutingError.check(!bytes.isEmpty, .malformedURL, "the URL is empty; write / for the root")
    try RoutingError.check(
      bytes.count <= limits.bytes, .limitExceeded,
      "the URL has \(bytes.count) bytes, and at most \(limits.bytes) are read")
    for index in bytes.indices where bytes[index] <= 0x20 || bytes[index] == 0x7f {
      throw malformed(index, "a blank or a control character has to be written as %XX")
    }
  }

  /// The scheme in lower case, taken off the front of `rest` with its colon.
  func scheme(_ rest: inout Range<Int>) -> String? {
    guard let end = bytes[rest].firstIndex(where: { !$0.isSchemeCharacter }),
      bytes[end] == UInt8(ascii: ":"), bytes[rest.lowerBound].isLetter
    else { return nil }
    let text = String(decoding: bytes[rest.lowerBound..<end], as: UTF8.self)
    rest = (end + 1)..<rest.upperBound
    return text.lowercased()
  }

  /// The range before the first `separator`, and the range behind it; nil where there is none.
  func split(
    _ range: Range<Int>, at separator: Unicode.Scalar
  ) -> (before: Range<Int>, after: Range<Int>?) {
    guard let index = bytes[range].firstIndex(of: UInt8(ascii: separator)) else {
      return (range, nil)
    }
    return (range.lowerBound..<index, (index + 1)..<range.upperBound)
  }

  /// The host and the port, and the range of the path behind them.
  func authority(
    of range: Range<Int>, _ rules: SchemeRules
  ) throws(RoutingError) -> (authority: Authority?, path: Range<Int>) {
    guard bytes[range].starts(with: "//".utf8) else {
      guard !rules.isWeb else { throw malformed(Authority.noHost(range.lowerBound)) }
      return (nil, range)
    }
    let start = range.lowerBound + 2
    let end = bytes[start..<range.upperBound].firstIndex(of: UInt8(ascii: "/")) ?? range.upperBound
    do throws(Refusal) {
      return (try Authority(bytes[start..<end], rules), end..<range.upperBound)
    } catch {
      throw malformed(error)
    }
  }

  /// The segments of a path, decoded, the empty ones left out; a host before them counts as one.
  func segments(of path: Range<Int>, behindHost: Bool) throws(RoutingError) -> [String] {
    var segments: [String] = []
    var index = path.lowerBound
    let most = limits.segments - (behindHost ? 1 : 0)
    while let range = nextSegment(in: path, from: &index) {
      try RoutingError.check(
        segments.count < most, .limitExceeded, "the URL has more than \(limits.segments) segments")
      let segment = try decode(range, "the path")
      guard segment != ".", segment != ".." else {
        throw malformed(range.lowerBound, "a path that climbs with \(segment) is not followed")
      }
      segments.append(segment)
    }
    return segments
  }

  /// The next segment that is not empty.
  private func nextSegment(in path: Range<Int>, from index: inout Int) -> Range<Int>? {
    while index < path.upperBound, bytes[index] == UInt8(ascii: "/") { index += 1 }
    guard index < path.upperBound else { return nil }
    let start = index
    while index < path.upperBound, bytes[index] != UInt8(ascii: "/") { index += 1 }
    return start..<index
  }

  /// The path from a segment on, decoded as one text; it was read before, so it can be decoded.
  func tail(of path: Range<Int>, from count: Int) -> String {
    var index = path.lowerBound
    for _ in 0..<count { _ = nextSegment(in: path, from: &index) }
    while index < path.upperBound, bytes[index] == UInt8(ascii: "/") { index += 1 }
    return trimmed(index..<path.upperBound)
  }

  /// A path without the slashes at its end, decoded as one text.
  func trimmed(_ path: Range<Int>) -> String {
    var end = path.upperBound
    while end > path.lowerBound, bytes[end - 1] == UInt8(ascii: "/") { end -= 1 }
    return (try? decode(path.lowerBound..<end, "the path")) ?? ""
  }

  /// The parameters of a query.
  func items(of query: Range<Int>?, plusIsBlank: Bool) throws(RoutingError) -> [URLText.Item] {
    guard let query else { return [] }
    var items: [URLText.Item] = []
    for part in bytes[query].split(separator: UInt8(ascii: "&")) {
      try RoutingError.check(
        items.count < limits.items, .limitExceeded,
        "the URL's query has more than \(limits.items) parameters")
      let pair = split(part.indices, at: "=")
      let name = try decode(pair.before, "the query", plusIsBlank: plusIsBlank)
      let value = try pair.after.map { range throws(RoutingError) in
        try decode(range, "the query", plusIsBlank: plusIsBlank)
      }
      items.append(URLText.Item(name: name, value: value))
    }
    return items
  }

  /// The text of a range with its `%XX` decoded, once.
  func decode(
    _ range: Range<Int>, _ what: String, plusIsBlank: Bool = false
  ) throws(RoutingError) -> String {
    do throws(Refusal) {
      return try percentDecoded(bytes[range], what, plusIsBlank: plusIsBlank)
    } catch {
      throw malformed(error)
    }
  }

  private func malformed(_ refusal: Refusal) -> RoutingError {
    malformed(refusal.index, refusal.message)
  }

  private func malformed(_ index: Int, _ reason: String) -> RoutingError {
    RoutingError(.malformedURL, "the URL cannot be read at byte \(index): \(reason)")
  }
}
