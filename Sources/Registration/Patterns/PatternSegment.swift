/// One segment of the path of a pattern.
package enum PatternSegment: Hashable, Sendable {
  case literal(String)
  case capture(Capture)
  case rest(Rest)

  /// `*`: what is left, under no name of its own.
  static let anything = rest(Rest(name: "*", isPath: false))

  /// `v:major<Int>.html`
  package struct Capture: Hashable, Sendable {
    package internal(set) var prefix = ""
    package internal(set) var name: String
    /// As it was written; nil for text.
    package internal(set) var type: String?
    package internal(set) var suffix = ""
  }

  /// `*name`, or `:name<Path>`.
  package struct Rest: Hashable, Sendable {
    package internal(set) var name: String
    /// Whether it takes at least one segment, as one text.
    package internal(set) var isPath: Bool
  }

  /// The name that a value is given; nil for a literal.
  package var name: String? {
    switch self {
    case .literal: nil
    case .capture(let capture): capture.name
    case .rest(let rest): rest.name
    }
  }

  /// Whether it takes what is left, if anything.
  package var isRest: Bool { if case .rest(let rest) = self { !rest.isPath } else { false } }

  /// The name by which a type is found: in lower case, and a float is a double.
  package static func typeKey(_ name: String) -> String {
    let key = name.lowercased()
    return key == "float" ? "double" : key
  }
}

extension PatternSegment.Capture {
  /// Whether the text before and behind it stays apart from every value: a mark at its start would not.
  var isApart: Bool {
    (prefix + "a" + suffix).count == prefix.count + 1 + suffix.count
  }
}

/// Where one form of a pattern leads, whatever its parameters are called: two routes of one priority that have such a
/// shape in common are duplicates. The query is no part of it.
package struct RouteShape: Hashable, Sendable {
  private let scheme: String?
  private let isAbsolute: Bool
  private let segments: [PatternSegment]

  fileprivate init(_ parts: PatternParts, _ segments: [PatternSegment]) {
    scheme = parts.scheme
    isAbsolute = parts.isAbsolute
    self.segments = segments.map { segment in
      switch segment {
      case .literal: return segment
      case .capture(var capture):
        capture.name = ""
        capture.type = capture.type.map(PatternSegment.typeKey)
        return .capture(capture)
      case .rest(let rest): return .rest(PatternSegment.Rest(name: "", isPath: rest.isPath))
      }
    }
  }
}

extension PatternParts {
  /// The shape of each form, the longest first; `isPrefix` where anything may follow what the pattern covers.
  package func shapes(isPrefix: Bool = false) -> [RouteShape] {
    variants(isPrefix: isPrefix).map { RouteShape(self, $0) }
  }
}
