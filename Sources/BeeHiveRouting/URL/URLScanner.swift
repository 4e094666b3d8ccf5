/// Reads the parts of a URL out of its bytes; `URLText` has the rules.
struct URLScanner {
  let bytes: [UInt8]
  let limits: URLLimits

  /// Refuses what no part of a URL may hold.
  func check() throws(RoutingError) {
    guard bytes.count <= limits.bytes else {
      throw RoutingError(
        .limitExceeded, "the URL has \(bytes.count) bytes, and at most \(limits.bytes) are read")
    }
    for index in bytes.indices where bytes[index] <= 0x20 || bytes[index] == 0x7f {
      throw malformed(index, "a blank or a control character has to be written as %XX")
    }
  }

  /// The scheme in lower case, taken off the front of `rest` with its colon.
  func scheme(_ rest: inout Range<Int>) -> String? {
    var index = rest.lowerBound
    guard index < rest.upperBound, bytes[index].isLetter else { return nil }
    var hasCapitals = false
    while index < rest.upperBound, bytes[index].isSchemeCharacter {
      if bytes[index] & 0x20 == 0, bytes[index].isLetter { hasCapitals = true }
      index += 1
    }
    guard index < rest.upperBound, bytes[index] == UInt8(ascii: ":") else { return nil }
    let text = copy(rest.lowerBound..<index)
    rest = (index + 1)..<rest.upperBound
    return hasCapitals ? text.lowercased() : text
  }

  /// What stands before the first `separator`, and what stands behind it.
  func split(
    _ range: Range<Int>, at separator: Unicode.Scalar
  ) -> (before: Range<Int>, after: Range<Int>?) {
    guard let index = first(UInt8(ascii: separator), in: range) else { return (range, nil) }
    return (range.lowerBound..<index, (index + 1)..<range.upperBound)
  }

  struct Authority {
    var host: String?
    var port: Int?
    var isIPv6 = false
    var path: Range<Int>
  }

  /// The host and the port, and the range of the path behind them.
  func authority(of range: Range<Int>) throws(RoutingError) -> Authority {
    let slash = UInt8(ascii: "/")
    guard range.count >= 2, bytes[range.lowerBound] == slash,
      bytes[range.lowerBound + 1] == slash
    else { return Authority(path: range) }
    let start = range.lowerBound + 2
    let end = first(slash, in: start..<range.upperBound) ?? range.upperBound
    var result = Authority(path: end..<range.upperBound)
    var place = start..<end
    // A password may hold an @ that nobody encoded: the last one ends it.
    if let at = last(UInt8(ascii: "@"), in: place) { place = (at + 1)..<end }
    if let first = place.first, bytes[first] == UInt8(ascii: "[") {
      guard let close = self.first(UInt8(ascii: "]"), in: place) else {
        throw malformed(first, "the IPv6 host has no ]")
      }
      result.host = try address((first + 1)..<close)
      result.isIPv6 = true
      place = (close + 1)..<end
      guard place.isEmpty || bytes[place.lowerBound] == UInt8(ascii: ":") else {
        throw malformed(place.lowerBound, "only a port may follow ]")
      }
    } else {
      let colon = self.first(UInt8(ascii: ":"), in: place) ?? end
      let host = try decode(place.lowerBound..<colon, "the host")
      guard !host.contains("/") else {
        throw malformed(place.lowerBound, "the host holds a slash")
      }
      try refuseDots(host, at: place.lowerBound)
      result.host = host.isEmpty ? nil : host
      place = colon..<end
    }
    if place.count > 1 { result.port = try port((place.lowerBound + 1)..<place.upperBound) }
    return result
  }

  private func address(_ range: Range<Int>) throws(RoutingError) -> String {
    for index in range where !bytes[index].isAddressCharacter {
      throw malformed(index, "an IPv6 host has hexadecimal digits, colons and dots alone")
    }
    guard first(UInt8(ascii: ":"), in: range) != nil else {
      throw malformed(range.lowerBound, "an IPv6 host has colons")
    }
    return copy(range)
  }

  private func port(_ range: Range<Int>) throws(RoutingError) -> Int {
    var number = 0
    for index in range {
      guard bytes[index].isDigit, number <= 65535 else {
        throw malformed(index, "a port is a number up to 65535")
      }
      number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
    }
    guard number <= 65535 else {
      throw malformed(range.lowerBound, "a port is a number up to 65535")
    }
    return number
  }

  /// The segments of a path, decoded, the empty ones left out; a host before them counts as one.
  func segments(of path: Range<Int>, behindHost: Bool) throws(RoutingError) -> [String] {
    var segments: [String] = []
    var index = path.lowerBound
    let most = limits.segments - (behindHost ? 1 : 0)
    while let range = nextSegment(in: path, from: &index) {
      guard segments.count < most else {
        throw RoutingError(
          .limitExceeded, "the URL has more than \(limits.segments) segments")
      }
      let segment = try decode(range, "the path")
      try refuseDots(segment, at: range.lowerBound)
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

  private func refuseDots(_ segment: String, at index: Int) throws(RoutingError) {
    guard segment != ".", segment != ".." else {
      throw malformed(index, "a path that climbs with \(segment) is not followed")
    }
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
    var index = query.lowerBound
    while index < query.upperBound {
      let end = first(UInt8(ascii: "&"), in: index..<query.upperBound) ?? query.upperBound
      defer { index = end + 1 }
      guard end > index else { continue }
      guard items.count < limits.items else {
        throw RoutingError(
          .limitExceeded, "the URL's query has more than \(limits.items) parameters")
      }
      let pair = split(index..<end, at: "=")
      let name = try decode(pair.before, "the query", plusIsBlank: plusIsBlank)
      let value = try pair.after.map { range throws(RoutingError) in
        try decode(range, "the query", plusIsBlank: plusIsBlank)
      }
      items.append(URLText.Item(name: name, value: value))
    }
    return items
  }

  private func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
    var index = range.lowerBound
    while index < range.upperBound {
      if bytes[index] == byte { return index }
      index += 1
    }
    return nil
  }

  private func last(_ byte: UInt8, in range: Range<Int>) -> Int? {
    var index = range.upperBound
    while index > range.lowerBound {
      index -= 1
      if bytes[index] == byte { return index }
    }
    return nil
  }

  func malformed(_ index: Int, _ reason: String) -> RoutingError {
    RoutingError(.malformedURL, "the URL cannot be read at byte \(index): \(reason)")
  }
}
