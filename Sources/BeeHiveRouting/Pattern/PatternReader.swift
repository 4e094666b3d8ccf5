/// Reads the text of a `RoutePattern`, which has the grammar.
struct PatternReader {
  struct Parts {
    var scheme: String?
    var isAbsolute = false
    var variants: [[RoutePattern.Segment]] = []
    var keys: [RoutePattern.Key] = []
    var allowsOtherKeys = false
  }

  /// More optional parts would make more forms of one route than anybody can mean.
  static let mostVariants = 64

  private let text: String

  init(_ text: String) { self.text = text }

  mutating func read() throws(RoutingError) -> Parts {
    var parts = Parts()
    guard !text.isEmpty else { throw bad("it is empty; write / for the root") }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw bad("a blank or a control character has to be written as %XX")
    }
    guard !text.contains("#") else { throw bad("a fragment is no part of a pattern") }
    var (path, query) = splitQuery()
    (parts.scheme, path) = try splitScheme(path)
    if path.hasPrefix("//") {
      parts.isAbsolute = true
      path = path.dropFirst(2)
    }
    let forms = try OptionalParts.forms(of: path, in: self)
    for form in forms {
      let segments = try self.segments(of: form, isAbsolute: parts.isAbsolute)
      if !parts.variants.contains(segments) { parts.variants.append(segments) }
    }
    parts.variants = parts.variants.enumerated()
      .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
    if let query { try read(query, into: &parts) }
    try checkNames(parts)
    return parts
  }

  /// The first `?` that is not inside angle brackets begins the query.
  private func splitQuery() -> (Substring, Substring?) {
    var depth = 0
    for index in text.indices {
      switch text[index] {
      case "<": depth += 1
      case ">": depth -= 1
      case "?" where depth == 0:
        return (text[..<index], text[text.index(after: index)...])
      default: break
      }
    }
    return (text[...], nil)
  }

  private func splitScheme(_ path: Substring) throws(RoutingError) -> (String?, Substring) {
    guard let colon = path.firstIndex(of: ":") else { return (nil, path) }
    let scheme = path[..<colon]
    let rest = path[path.index(after: colon)...]
    if scheme == "*" { return (nil, rest) }
    // `:name` at the front is a parameter, and so is the one of `v:major`.
    guard let first = scheme.utf8.first, first.isLetter,
      scheme.utf8.allSatisfy(\.isSchemeCharacter), rest.hasPrefix("/")
    else { return (nil, path) }
    return (scheme.lowercased(), rest)
  }

  private func segments(
    of form: String, isAbsolute: Bool
  ) throws(RoutingError) -> [RoutePattern.Segment] {
    var segments: [RoutePattern.Segment] = []
    for (index, part) in form.split(separator: "/").enumerated() {
      if case .rest? = segments.last {
        throw bad("nothing can follow * or a Path, which take all that is left")
      }
      segments.append(try segment(part, isHost: isAbsolute && index == 0))
    }
    guard segments.count <= URLLimits.standard.segments else {
      throw bad("it has more than \(URLLimits.standard.segments) segments")
    }
    return segments
  }

  private func segment(
    _ part: Substring, isHost: Bool
  ) throws(RoutingError) -> RoutePattern.Segment {
    if part.hasPrefix("*") {
      let name = part.dropFirst()
      guard name.isEmpty || name.allSatisfy(\.isNamePart) else {
        throw bad("behind * stands a name or nothing, not \"\(name)\"")
      }
      return .rest(RoutePattern.Rest(name: name.isEmpty ? "*" : String(name), isPath: false))
    }
    guard !part.contains("*") else {
      throw bad("* stands for whole segments; \"\(part)\" has more")
    }
    if isHost, part.isPort || !part.contains(":") || part.hasPrefix("[") {
      return .literal(try host(part))
    }
    guard let colon = part.firstIndex(of: ":") else {
      let literal = try decoded(part)
      guard literal != ".", literal != ".." else { throw bad("no URL that climbs is matched") }
      return .literal(literal)
    }
    let segment = try capture(part, at: colon)
    if isHost, case .capture(let capture) = segment,
      (capture.prefix + capture.suffix).contains(where: { "/@:".contains($0) })
    {
      throw bad("a host holds no slash, no @ and no colon")
    }
    return segment
  }

  /// A host as URLs have it: in lower case, with its port.
  private func host(_ part: Substring) throws(RoutingError) -> String {
    let url: URLText
    do throws(RoutingError) { url = try URLText("//\(part)") } catch { throw bad(error.message) }
    guard let host = url.host, url.items.isEmpty,
      !host.contains(where: { "@:".contains($0) })
        || url.isIPv6
    else { throw bad("\"\(part)\" is no host") }
    return url.hostText.lowercased()
  }

  private func capture(
    _ part: Substring, at colon: Substring.Index
  ) throws(RoutingError) -> RoutePattern.Segment {
    var rest = part[part.index(after: colon)...]
    let name = rest.prefix(while: \.isNamePart)
    guard let first = name.first, !first.isNumber else {
      throw bad("behind : stands a name that begins with a letter; write %3A for a colon")
    }
    rest = rest.dropFirst(name.count)
    var capture = RoutePattern.Capture(
      prefix: try decoded(part[..<colon]), name: String(name))
    if rest.hasPrefix("<") {
      guard let close = rest.firstIndex(of: ">") else { throw bad("< has no >") }
      let type = rest[rest.index(after: rest.startIndex)..<close]
      guard !type.isEmpty, type.allSatisfy(\.isNamePart) else {
        throw bad("between < and > stands the name of a type, not \"\(type)\"")
      }
      rest = rest[rest.index(after: close)...]
      if type.lowercased() == "path" {
        guard capture.prefix.isEmpty, rest.isEmpty else {
          throw bad("a Path takes whole segments, so nothing stands before or behind it")
        }
        return .rest(RoutePattern.Rest(name: capture.name, isPath: true))
      }
      capture.type = type.lowercased() == "string" ? nil : String(type)
    }
    guard !rest.contains(":") else { throw bad("\"\(part)\" has two parameters in one segment") }
    capture.suffix = try decoded(rest)
    return .capture(capture)
  }

  private func read(_ query: Substring, into parts: inout Parts) throws(RoutingError) {
    for item in query.split(separator: "&") {
      if item == "*" {
        parts.allowsOtherKeys = true
        continue
      }
      var head = item
      var key = RoutePattern.Key(name: "", type: "String", isOptional: true, defaultText: nil)
      // The default may hold anything but &.
      if let equals = item.firstIndex(of: "=") {
        key.defaultText = try decoded(item[item.index(after: equals)...])
        head = item[..<equals]
      }
      if head.hasSuffix(">"), let open = head.firstIndex(of: "<") {
        var type = head[head.index(after: open)...].dropLast()
        key.isOptional = type.hasSuffix("?") || key.defaultText != nil
        if type.hasSuffix("?") { type = type.dropLast() }
        guard !type.isEmpty, type.allSatisfy(\.isNamePart) else {
          throw bad("between < and > stands the name of a type, not \"\(type)\"")
        }
        key.type = String(type)
        head = head[..<open]
      }
      key.name = try decoded(head)
      guard !key.name.isEmpty, !key.name.contains("<") else {
        throw bad("\"\(item)\" of the query is no key, key<Type> or key<Type>=default")
      }
      parts.keys.append(key)
    }
  }

  /// Every name stands for one value.
  private func checkNames(_ parts: Parts) throws(RoutingError) {
    for variant in parts.variants {
      var names = Set(parts.keys.map(\.name))
      guard names.count == parts.keys.count else {
        throw bad("a key of the query stands there twice")
      }
      for segment in variant {
        let name: String
        switch segment {
        case .literal: continue
        case .capture(let capture): name = capture.name
        case .rest(let rest): name = rest.name
        }
        guard names.insert(name).inserted else { throw bad("the name \(name) stands there twice") }
      }
    }
  }

  private func decoded(_ part: Substring) throws(RoutingError) -> String {
    guard part.contains("%") else { return String(part) }
    let bytes = Array(part.utf8)
    let scanner = URLScanner(bytes: bytes, limits: .standard)
    do throws(RoutingError) {
      return try scanner.decode(0..<bytes.count, "the pattern")
    } catch {
      throw bad(error.message)
    }
  }

  func bad(_ reason: String) -> RoutingError {
    RoutingError(.badPattern, "the pattern \(text) cannot be used: \(reason)")
  }
}

extension Character {
  /// What names of parameters and types are made of.
  fileprivate var isNamePart: Bool { isLetter || isNumber || self == "_" }
}

extension Substring {
  /// Whether this is a host with a port.
  fileprivate var isPort: Bool {
    guard let colon = lastIndex(of: ":"), colon > startIndex else { return false }
    let digits = self[index(after: colon)...]
    return !digits.isEmpty && digits.utf8.allSatisfy(\.isDigit)
  }
}
