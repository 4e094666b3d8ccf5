internal import Registration

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
    if let (scheme, rest) = path.cut(at: ":") {
      // `:name` at the front is a parameter, and so is the one of `v:major`.
      let isScheme = scheme.utf8.first?.isLetter == true && rest.utf8.first == UInt8(ascii: "/")
      if scheme == "*" {
        path = rest
      } else if isScheme, scheme.utf8.allSatisfy(\.isSchemeCharacter) {
        let rules = SchemeRules(scheme: scheme.lowercased())
        root.scheme = scheme.lowercased()
        path = String(decoding: rest.utf8.map(rules.cut), as: UTF8.self)[...]
      }
    }
    if path.utf8.starts(with: "//".utf8) {
      root.isAbsolute = true
      path = path.dropFirstScalar.dropFirstScalar
    }
    var forms: [RouteForm] = []
    for text in OptionalParts.forms(of: path) {
      var form = root
      var hosts: [Segment] = []
      for (index, part) in text[...].parts(at: "/").enumerated() {
        // Nothing follows what takes all that is left.
        if form.isOpen { return [] }
        if root.isAbsolute, index == 0 {
          hosts = Segment.hosts(part, scheme: root.scheme)
          guard let host = hosts.first else { return [] }
          form.segments.append(host)
        } else {
          guard let segment = Segment(part) else { return [] }
          form.segments.append(segment)
        }
      }
      let isWeb = SchemeRules(scheme: root.scheme).isWeb
      guard form.segments.count <= mostSegments,
        !form.segments.isEmpty || !root.isAbsolute || !isWeb
      else { return [] }
      if isPrefix, !form.isOpen { form.segments.append(.rest) }
      forms.append(form)
      for host in hosts.dropFirst() {
        form.segments[0] = host
        forms.append(form)
      }
    }
    return forms
  }

  private var isOpen: Bool { segments.last == .path || segments.last == .rest }

  /// The first `?` that is not inside angle brackets begins the query.
  private static func withoutQuery(_ pattern: String) -> Substring {
    var depth = 0
    let scalars = pattern.unicodeScalars
    for index in scalars.indices {
      switch scalars[index] {
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
  /// What the host of a pattern takes, in each way in which it is read; none where no router takes it.
  fileprivate static func hosts(_ part: Substring, scheme: String?) -> [Self] {
    do throws(URLRefusal) {
      if let keys = try PatternHost.keys(of: part, scheme: scheme) {
        return keys.map { .literal($0) }
      }
      guard let segment = Self(part) else { return [] }
      guard case .value(let prefix, let type, let suffix) = segment else { return [segment] }
      let text = try PatternHost.text(before: prefix, behind: suffix, scheme: scheme)
      return [.value(prefix: text.prefix, type: type, suffix: text.suffix)]
    } catch {
      return []
    }
  }

  /// What a part between slashes takes; nil where no router takes it.
  fileprivate init?(_ part: Substring) {
    if let (before, name) = part.cut(at: "*") {
      guard before.isEmpty, name.allSatisfy(\.isNamePart) else { return nil }
      self = .rest
      return
    }
    guard let (before, behind) = part.cut(at: ":") else {
      guard let text = part.percentDecoded, text != ".", text != ".." else { return nil }
      self = .literal(text)
      return
    }
    let name = behind.prefix(while: \.isNamePart)
    guard let first = name.first, !first.isNumber else { return nil }
    var rest = behind[name.endIndex...]
    var type: String?
    if rest.utf8.first == UInt8(ascii: "<") {
      guard let (named, suffix) = rest.dropFirstScalar.cut(at: ">") else { return nil }
      guard !named.isEmpty, named.allSatisfy(\.isNamePart) else { return nil }
      // Types know no case, a float is a double, and text is what a segment is without one.
      let key = named.lowercased()
      type = key == "string" ? nil : key == "float" ? "double" : key
      rest = suffix
    }
    guard let prefix = before.percentDecoded, let suffix = rest.percentDecoded,
      rest.cut(at: ":") == nil,
      (prefix + "a" + suffix).count == prefix.count + 1 + suffix.count
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
    var rest = path.unicodeScalars
    let forms = sequence(&rest, depth: 0)
    return rest.isEmpty ? forms : []
  }

  /// The forms up to the end, or to a parenthesis that somebody else opened.
  private static func sequence(_ rest: inout Substring.UnicodeScalarView, depth: Int) -> [String] {
    var forms = [""]
    while let next = rest.first, next != ")" {
      guard next == "(" else {
        let plain = rest.prefix { $0 != "(" && $0 != ")" }
        rest = rest.dropFirst(plain.count)
        forms = forms.map { $0 + Substring(plain) }
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

extension Substring {
  /// The text with its `%XX` decoded; nil where that is no text.
  fileprivate var percentDecoded: String? {
    try? PercentDecoding.text(of: Array(utf8)[...], "the pattern")
  }
}
