/// Where a pattern leads, whatever its parameters are called: what a router tells routes apart by.
///
/// The router's own reader stands in `BeeHiveRouting`, which no tool loads; the tests of this one hold
/// it to that, pattern by pattern. The query is no part of it.
struct RouteForm: Hashable {
  enum Segment: Hashable {
    case literal(String)
    /// One segment, as a value of a type; nil for text.
    case value(prefix: String, type: String?, suffix: String)
    /// What is left, at least one segment.
    case path
    /// What is left, if anything.
    case rest
  }

  /// In lower case; nil for any.
  var scheme: String?
  /// Whether the first segment is a host.
  var isAbsolute = false
  var segments: [Segment] = []

  /// The most segments of a form that a router takes: `URLLimits.standard.segments`.
  static let mostSegments = 64
  /// The longest pattern that is compared, in bytes. No URL that a router reads is half as long, and
  /// all forms of one pattern together hold 64 times as much at most.
  static let mostBytes = 16 << 10

  /// One form for each choice of the optional parts; none where the pattern cannot be read.
  ///
  /// `isPrefix` where anything may follow.
  static func forms(of pattern: String, isPrefix: Bool) -> [RouteForm] {
    guard !pattern.isEmpty, pattern.utf8.count <= mostBytes,
      pattern.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != 0x23 })
    else { return [] }
    var path = withoutQuery(pattern)
    var root = RouteForm()
    if let colon = path.firstIndex(of: ":") {
      let scheme = path[..<colon]
      let rest = path[path.index(after: colon)...]
      // `:name` at the front is a parameter, and so is the one of `v:major`.
      let isScheme = scheme.utf8.first?.isASCIILetter == true && rest.hasPrefix("/")
      if scheme == "*" {
        path = rest
      } else if isScheme, scheme.utf8.allSatisfy(\.isSchemePart) {
        (root.scheme, path) = (scheme.lowercased(), rest)
      }
    }
    if path.hasPrefix("//") {
      root.isAbsolute = true
      path = path.dropFirst(2)
    }
    var forms: [RouteForm] = []
    for text in OptionalParts.forms(of: path) {
      var form = root
      for (index, part) in text.split(separator: "/").enumerated() {
        // Nothing follows what takes all that is left.
        if form.isOpen { return [] }
        let isHost = root.isAbsolute && index == 0
        guard let segment = Segment(part, isHost: isHost) else { return [] }
        form.segments.append(segment)
      }
      guard form.segments.count <= mostSegments else { return [] }
      if isPrefix, !form.isOpen { form.segments.append(.rest) }
      forms.append(form)
    }
    return forms
  }

  private var isOpen: Bool { segments.last == .path || segments.last == .rest }

  /// The first `?` that is not inside angle brackets begins the query.
  private static func withoutQuery(_ pattern: String) -> Substring {
    var depth = 0
    for index in pattern.indices {
      switch pattern[index] {
      case "<": depth += 1
      case ">": depth -= 1
      case "?" where depth == 0: return pattern[..<index]
      default: break
      }
    }
    return pattern[...]
  }
}

extension RouteForm.Segment {
  /// What a part between slashes takes; nil where no router takes it.
  fileprivate init?(_ part: Substring, isHost: Bool) {
    if part.hasPrefix("*") {
      guard part.dropFirst().allSatisfy(\.isNamePart) else { return nil }
      self = .rest
      return
    }
    guard !part.contains("*") else { return nil }
    guard let colon = part.firstIndex(of: ":"), !(isHost && part.isHostWithPort) else {
      guard let text = part.percentDecoded, text != ".", text != ".." else { return nil }
      self = .literal(isHost ? text.lowercased() : text)
      return
    }
    let name = part[part.index(after: colon)...].prefix(while: \.isNamePart)
    guard let first = name.first, !first.isNumber else { return nil }
    var rest = part[name.endIndex...]
    var type: String?
    if rest.hasPrefix("<") {
      guard let close = rest.firstIndex(of: ">") else { return nil }
      let named = rest[..<close].dropFirst()
      guard !named.isEmpty, named.allSatisfy(\.isNamePart) else { return nil }
      // Types know no case, a float is a double, and text is what a segment is without one.
      let key = named.lowercased()
      type = key == "string" ? nil : key == "float" ? "double" : key
      rest = rest[close...].dropFirst()
    }
    guard let prefix = part[..<colon].percentDecoded, let suffix = rest.percentDecoded,
      !rest.contains(":")
    else { return nil }
    guard type != "path" else {
      guard prefix.isEmpty, suffix.isEmpty else { return nil }
      self = .path
      return
    }
    self = .value(prefix: prefix, type: type, suffix: suffix)
  }
}

/// The forms of a pattern whose parts in parentheses may be there or not.
private enum OptionalParts {
  /// More than a router takes of one pattern.
  private static let tooMany = 65

  /// None where a parenthesis has no other, or where there are too many.
  static func forms(of path: Substring) -> [String] {
    var rest = path
    let forms = sequence(&rest, depth: 0)
    return rest.isEmpty ? forms : []
  }

  /// The forms up to the end, or to a parenthesis that somebody else opened.
  private static func sequence(_ rest: inout Substring, depth: Int) -> [String] {
    var forms = [""]
    while let next = rest.first, next != ")" {
      guard next == "(" else {
        let plain = rest.prefix { $0 != "(" && $0 != ")" }
        rest = rest.dropFirst(plain.count)
        forms = forms.map { $0 + plain }
        continue
      }
      rest = rest.dropFirst()
      // Each level has one form more than what it holds, so that no pattern is nested deeper.
      let inner = depth < tooMany ? sequence(&rest, depth: depth + 1) : []
      guard rest.popFirst() == ")" else { return [] }
      // Counted before they are made: each is as long as the pattern.
      guard !inner.isEmpty, forms.count * (inner.count + 1) < tooMany else { return [] }
      forms = forms.flatMap { form in inner.map { form + $0 } + [form] }
    }
    return forms
  }
}

extension Character {
  /// What names of parameters and types are made of.
  fileprivate var isNamePart: Bool { isLetter || isNumber || self == "_" }
}

extension UInt8 {
  fileprivate var isASCIILetter: Bool { (0x61...0x7a).contains(self | 0x20) }
  fileprivate var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var isSchemePart: Bool {
    isASCIILetter || isASCIIDigit || [0x2b, 0x2d, 0x2e].contains(self)
  }
}

extension Substring {
  /// Whether it is no parameter though it has a colon: `shop:80`, `[::1]`.
  fileprivate var isHostWithPort: Bool {
    if hasPrefix("[") { return true }
    guard let colon = lastIndex(of: ":"), colon > startIndex else { return false }
    let digits = self[index(after: colon)...]
    return !digits.isEmpty && digits.utf8.allSatisfy(\.isASCIIDigit)
  }

  /// The text with its `%XX` decoded; nil where that is no text.
  fileprivate var percentDecoded: String? {
    guard contains("%") else { return String(self) }
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = Substring(rest.prefix(2))
      guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
        let decoded = UInt8(digits, radix: 16), decoded != 0
      else { return nil }
      bytes.append(decoded)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
