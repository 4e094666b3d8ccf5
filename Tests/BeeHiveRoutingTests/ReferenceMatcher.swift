import Foundation

/// One segment of a reference pattern.
struct ReferenceSegment: Hashable {
  /// The kinds of segments in the order that the router tries them, the best first.
  enum Kind: Int, Hashable, CaseIterable {
    case literal, uuid, int, double, bool, even, short, text, path, rest
  }

  var kind: Kind
  /// The text of a literal, or the text before a value.
  var prefix = ""
  /// The text after a value.
  var suffix = ""
  var name = ""
  /// The pattern's spelling of the type.
  var type = ""

  var pattern: String {
    switch kind {
    case .literal: prefix
    case .rest: "*\(name)"
    case .text where type.isEmpty: "\(prefix):\(name)\(suffix)"
    default: "\(prefix):\(name)<\(type)>\(suffix)"
    }
  }

  /// The segment without its names. Two segments of equal shape meet the same texts.
  var shape: ReferenceSegment { ReferenceSegment(kind: kind, prefix: prefix, suffix: suffix) }

  /// The rank; smaller is better: a literal, then the most text around a value, then the narrower type.
  var rank: [Int] {
    switch kind {
    case .literal: [0, 0, 0, 0, 0]
    case .path: [2, 0, 0, 0, 0]
    case .rest: [3, 0, 0, 0, 0]
    default:
      [1, -(prefix.count + suffix.count), kind.rawValue]
        + [prefix, suffix].map { ReferenceSegment.affixes.firstIndex(of: $0) ?? -1 }
    }
  }

  /// The texts before and after values in generated patterns, in the order of the alphabet.
  static let affixes = ["", ".html", "4", "a", "é"]

  /// Returns the text of the value in a segment of a URL; nil if there is no value.
  func value(of text: String) -> String? {
    guard text.hasPrefix(prefix) else { return nil }
    let behind = text.dropFirst(prefix.count)
    guard behind.hasSuffix(suffix), behind.count > suffix.count else { return nil }
    let inner = String(behind.dropLast(suffix.count))
    switch kind {
    case .literal, .path, .rest: return nil
    case .text: return inner
    case .uuid: return UUID(uuidString: inner)?.uuidString
    case .int:
      guard let number = Int(inner), inner.wholeMatch(of: /[+-]?[0-9]+/) != nil else { return nil }
      return "\(number)"
    case .double:
      let decimal = /[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/
      guard let number = Double(inner), number.isFinite, inner.wholeMatch(of: decimal) != nil
      else { return nil }
      return "\(number)"
    case .bool: return ["true": "true", "1": "true", "false": "false", "0": "false"][inner]
    case .even: return inner.last.map { "02468".contains($0) } == true ? inner : nil
    case .short: return inner.count == 1 ? inner : nil
    }
  }
}

/// A piece of a reference pattern: a segment, or several that may be missing together.
indirect enum ReferencePart {
  case segment(ReferenceSegment)
  case optional([ReferencePart])

  var pattern: String {
    switch self {
    case .segment(let segment): "/" + segment.pattern
    case .optional(let parts): "(" + parts.map(\.pattern).joined() + ")"
    }
  }

  /// Returns the forms of a pattern: with each optional part and without it.
  static func forms(of parts: [ReferencePart]) -> [[ReferenceSegment]] {
    parts.reduce([[]]) { forms, part in
      switch part {
      case .segment(let segment): forms.map { $0 + [segment] }
      case .optional(let inner):
        forms.flatMap { form in (Self.forms(of: inner) + [[]]).map { form + $0 } }
      }
    }
  }
}

/// A URL that is made of known pieces.
struct ReferenceURL {
  var scheme: String?
  /// The host as a parameter gets it; an IPv6 host with its brackets.
  var host: String?
  /// The host as the URL writes it.
  var writtenHost: String?
  /// The port; nil if the URL has none, or the usual port of http.
  var port: Int?
  /// The decoded segments, each with the number of slashes before it.
  var path: [(slashes: Int, text: String)]
  var text: String

  /// Whether the host is only a name, so it may be meant as a part of the path.
  var isPlain: Bool {
    guard let host, port == nil else { return false }
    return !host.hasPrefix("[") && !host.contains(".") && host.lowercased() != "localhost"
  }

  /// Returns the segments to compare with a pattern, which has a host if `isAbsolute`.
  func segments(isAbsolute: Bool) -> [String] {
    let first = isAbsolute || isPlain ? host.map { [$0] } ?? [] : []
    return first + path.map(\.text)
  }

  /// Returns the text from a segment on, with its slashes.
  func tail(from index: Int, isAbsolute: Bool) -> String {
    let hosts = segments(isAbsolute: isAbsolute).count - path.count
    let first = index < hosts ? host ?? "" : ""
    return path[max(0, index - hosts)...].enumerated().reduce(first) { text, piece in
      let slashes = text.isEmpty && piece.offset == 0 ? 0 : piece.element.slashes
      return text + String(repeating: "/", count: slashes) + piece.element.text
    }
  }
}

/// A route of the reference. Its matcher tries every form of every route: slow, and easy to believe.
struct ReferenceRoute {
  /// The scheme; nil for any.
  let scheme: String?
  let isAbsolute: Bool
  let priority: Int
  let isPrefix: Bool
  let pattern: String
  /// The forms, the longest first.
  let forms: [[ReferenceSegment]]

  init(scheme: String?, isAbsolute: Bool, priority: Int, isPrefix: Bool, _ parts: [ReferencePart]) {
    (self.scheme, self.isAbsolute) = (scheme, isAbsolute)
    (self.priority, self.isPrefix) = (priority, isPrefix)
    let path = parts.map(\.pattern).joined()
    let body = path.hasPrefix("/") ? String(path.dropFirst()) : path
    pattern = (scheme.map { "\($0):" } ?? "") + (isAbsolute ? "//" : "/") + body
    forms = ReferencePart.forms(of: parts).enumerated()
      .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
      .map { _, form in
        let takesRest = [.path, .rest].contains(form.last?.kind)
        return isPrefix && !takesRest ? form + [ReferenceSegment(kind: .rest, name: "*")] : form
      }
  }

  /// The shapes that no other route of the same priority may have.
  var shapes: Set<[String]> {
    Set(
      forms.flatMap { form in
        let root = "\(scheme ?? "*") \(isAbsolute) \(priority)"
        let shapes = form.map { "\($0.shape.kind) \($0.shape.prefix) \($0.shape.suffix)" }
        guard let first = form.first, isHostName(first, at: 0) else { return [[root] + shapes] }
        let host = ReferenceHost(first.prefix)
        let texts = [
          scheme == "http" ? nil : "opaque \(host.opaque)",
          scheme.map { $0 == "http" } ?? true ? host.web : nil,
        ]
        return texts.compactMap { $0 }.map {
          [root, "\($0) \(host.port ?? 0)"] + shapes.dropFirst()
        }
      })
  }

  /// Whether every host in the pattern is possible in its scheme.
  var hasHosts: Bool {
    !isAbsolute || scheme != "http"
      || forms.allSatisfy { form in
        guard let first = form.first, first.name != "*" else { return false }
        if first.kind == .literal { return ReferenceHost(first.prefix).web != nil }
        return (first.prefix + first.suffix).utf8.allSatisfy { $0 < 0x80 }
      }
  }

  private func isHostName(_ segment: ReferenceSegment, at index: Int) -> Bool {
    isAbsolute && index == 0 && segment.kind == .literal
  }

  /// Returns how well a form matches, segment by segment from the left, and its values. Nil is no match.
  private func match(
    _ form: [ReferenceSegment], _ url: ReferenceURL
  ) -> (ranks: [Int], said: String)? {
    let path = url.segments(isAbsolute: isAbsolute)
    var ranks: [Int] = []
    var said = ""
    for (index, segment) in form.enumerated() {
      switch segment.kind {
      case .path:
        guard index < path.count, !path[index...].joined().contains("/") else { return nil }
        return (
          ranks + segment.rank,
          said + " \(segment.name)=\(url.tail(from: index, isAbsolute: isAbsolute))"
        )
      case .rest:
        let rest = path[min(index, path.count)...].joined(separator: "/")
        return (ranks + segment.rank, said + " \(segment.name)=\(rest)")
      case .literal:
        guard index < path.count else { return nil }
        if isHostName(segment, at: index) {
          let name = ReferenceHost(segment.prefix)
          guard name.isHost(of: url) else { return nil }
          // A host with a port is more specific than a host without one.
          ranks += name.port == nil ? segment.rank : [-1, 0, 0, 0, 0]
        } else {
          guard segment.prefix == path[index] else { return nil }
          ranks += segment.rank
        }
      default:
        guard index < path.count, let value = segment.value(of: path[index]) else { return nil }
        ranks += segment.rank
        said += " \(segment.name)=\(value)"
      }
    }
    return form.count == path.count ? (ranks, said) : nil
  }

  /// Returns the expected answer of the router: the routes that meet a URL, in order.
  static func answers(of routes: [ReferenceRoute], _ url: ReferenceURL) -> [String] {
    let met = routes.compactMap { route -> (order: [Int], said: String)? in
      guard route.scheme == nil || route.scheme == url.scheme else { return nil }
      let best = route.forms.compactMap { route.match($0, url) }
        .min { $0.ranks.lexicographicallyPrecedes($1.ranks) }
      let root = (route.scheme == nil ? 2 : 0) + (route.isAbsolute ? 0 : 1)
      return best.map { ([-route.priority, root] + $0.ranks, route.pattern + $0.said) }
    }
    return met.sorted { $0.order.lexicographicallyPrecedes($1.order) }.map(\.said)
  }
}
