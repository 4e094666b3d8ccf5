/// The URL of a redirection with places that the match fills in: `app://old/:id?tab=:tab`.
///
/// Its path is a pattern, so a place may have a type and text around it, and `*rest` at the end takes what the
/// pattern's `*rest` took.
struct RedirectTemplate: Sendable {
  private let head: String
  /// The path, if it has places.
  private let path: RoutePattern?
  /// The parameters of its query, each with the name of the place that is its value, if any.
  private let query: [(item: URLText.Item, place: String?)]
  private let fragment: String
  /// The names of its places.
  let names: Set<String>

  /// Reads a redirection; nil if the text has no places. Throws if its path is no pattern, or has a place that
  /// `given` does not name.
  init?(_ text: String, given: Set<String>) throws(RoutingError) {
    let (front, fragment) = text[...].split(at: "#")
    let (head, query) = front.split(at: "?")
    // No part of it is optional: each place is filled in.
    let literal = head.unicodeScalars.map { $0 == "(" ? "%28" : $0 == ")" ? "%29" : String($0) }
    path = Self.hasPlaces(inPath: head) ? try RoutePattern(literal.joined()) : nil
    self.head = String(head)
    self.fragment = fragment.map { "#" + $0 } ?? ""
    var own: [(item: URLText.Item, place: String?)] = []
    for part in (query ?? "").parts(at: "&") {
      // Here too, %3A is a colon.
      let value = part.split(at: "=").after ?? ""
      let isPlace = value.utf8.first == UInt8(ascii: ":")
      if !isPlace { try Self.check(value, names: given, of: "the value of a key") }
      for item in try URLText("/?" + part).items {
        let place = isPlace ? item.value.map { String($0.dropFirst()) } : nil
        own.append((item, place == "" ? nil : place))
      }
    }
    self.query = own
    try Self.check(fragment ?? "", names: given, of: "a fragment")
    names = Set((path?.names ?? []) + own.compactMap(\.place))
    if names.isEmpty { return nil }
    if let unknown = names.subtracting(given).min() {
      let sign = unknown == "*" ? "" : path?.isRest(unknown) == true ? "*" : ":"
      let known =
        given.isEmpty
        ? "nothing" : given.sorted().joined(separator: ", ").excerpt + " in each of its forms"
      throw RoutingError(
        .badPattern,
        "\(text.excerpt) has the place \(sign)\(unknown.excerpt), and the path that is matched gives \(known)"
          + near(unknown, in: given), key: unknown)
    }
  }

  /// Returns whether the path of a redirection has places, so that it need not be a URL.
  static func hasPlaces(inPath path: Substring) -> Bool {
    path.utf8.split(omittingEmptySubsequences: false) { #"/\"#.utf8.contains($0) }.dropFirst()
      .contains { segment in
        // A port is a number, a name is not; %3A is a colon, %2A a star.
        segment.first == UInt8(ascii: "*")
          || zip(segment, segment.dropFirst()).contains { $0 == UInt8(ascii: ":") && !$1.isDigit }
      }
  }

  /// Throws if a text that is taken literally names a value of the match.
  private static func check(
    _ text: Substring, names: Set<String>, of part: String
  ) throws(RoutingError) {
    guard let name = names.sorted().first(where: { text.hasPlace(of: $0) }) else { return }
    throw RoutingError(
      .badPattern,
      "\(text.excerpt) has :\(name.excerpt) in \(part), where nothing is filled in; a place is a segment or the whole value "
        + "of a key, and %3A is a colon", key: name)
  }

  /// Returns the URL with its places filled in, and with the remaining items in its query.
  func url(_ given: Arguments, carrying items: [URLText.Item]) throws(RoutingError) -> String {
    var values: [String: any URLConvertible] = [:]
    for name in names {
      let texts = given.texts(name)
      guard let first = texts.first else {
        if path?.isRest(name) == true { continue }
        throw RoutingError(
          .missingParameter,
          "\(head.excerpt) is to be filled in with \(name.excerpt), which the call is not given",
          key: name)
      }
      values[name] = texts.count == 1 ? first : texts
    }
    var text = head
    if let path { text = try path.url(with: values.filter { path.names.contains($0.key) }) }
    let own = query.flatMap { item, place in
      guard let place else { return [item] }
      return (values[place]?.urlTexts ?? []).map { URLText.Item(name: item.name, value: $0) }
    }
    text += own.isEmpty ? "" : "?" + Self.text(of: own)
    return try Self.url(text + fragment, carrying: items.filter { !names.contains($0.name) })
  }

  /// Returns a URL with parameters after its own, except for keys that it already has.
  static func url(_ text: String, carrying items: [URLText.Item]) throws(RoutingError) -> String {
    let unlimited = URLLimits(bytes: .max, segments: .max, items: .max)
    let own = Set(try URLText(text, limits: unlimited).items.map(\.name))
    let more = items.filter { !own.contains($0.name) }
    guard !more.isEmpty else { return text }
    let (front, fragment) = text[...].split(at: "#")
    let separator = front.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
    return front + separator + Self.text(of: more) + (fragment.map { "#" + $0 } ?? "")
  }

  private static func text(of items: [URLText.Item]) -> String {
    items.map(\.encoded).joined(separator: "&")
  }
}

extension Substring {
  /// Returns whether the text contains `:name` as a whole name.
  fileprivate func hasPlace(of name: String) -> Bool {
    var rest = self
    while let (_, behind) = rest.cut(at: ":") {
      if behind.prefix(while: \.isNamePart) == name { return true }
      rest = behind
    }
    return false
  }
}
