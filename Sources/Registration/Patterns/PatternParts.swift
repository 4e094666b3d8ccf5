/// The parts of a route's pattern; `RoutePattern` of `BeeHiveRouting` has the notation.
package struct PatternParts: Hashable, Sendable {
  /// The most segments of a form: as many as a URL may have unless the host says otherwise.
  package static let mostSegments = 64

  /// The scheme in lower case; nil for any.
  package internal(set) var scheme: String?
  /// Whether the first segment is a host.
  package internal(set) var isAbsolute = false
  /// One list of segments for each choice of the optional parts, the longest first; never empty.
  package internal(set) var variants: [[PatternSegment]] = []
  package internal(set) var keys: [PatternKey] = []
  /// Whether the query may have keys that are not declared.
  package internal(set) var allowsOtherKeys = false

  /// Any path and any query: `*?*`.
  package static let anything = PatternParts(variants: [[.anything]], allowsOtherKeys: true)

  /// The parameters of the path, declared like keys of a query. All that is left is a `[String]`.
  package var pathKeys: [PatternKey] {
    (variants.first ?? []).compactMap { segment in
      guard let name = segment.name else { return nil }
      let type =
        switch segment {
        case .capture(let capture): capture.type ?? "String"
        case .rest(_, isPath: true): "Path"
        default: "[String]"
        }
      let isOptional = segment.isRest || !variants.allSatisfy { $0.contains(segment) }
      return PatternKey(name: name, type: type, isOptional: isOptional)
    }
  }

  /// Returns the forms as a router takes them. With `isPrefix`, anything may follow the pattern.
  package func variants(isPrefix: Bool) -> [[PatternSegment]] {
    guard isPrefix else { return variants }
    return variants.map { variant in
      if case .rest? = variant.last { return variant }
      return variant + [.anything]
    }
  }
}

extension PatternParts {
  /// Reads a pattern.
  ///
  /// - Parameter text: The pattern, in the notation of `RoutePattern`.
  /// - Throws: ``Refusal`` if no router takes it.
  package init(_ text: String) throws(Refusal) {
    self.init()
    do throws(Refusal) { try PatternReader(text: text).read(into: &self) } catch {
      throw Refusal(.badPattern, "the pattern \(text.excerpt) cannot be used: \(error.message)")
    }
  }
}

/// One segment of the path of a pattern.
package enum PatternSegment: Hashable, Sendable {
  case literal(String)
  case capture(Capture)
  /// `*name`, or `:name<Path>`: a Path takes at least one segment, as one text.
  case rest(name: String, isPath: Bool)

  /// `*`: all that is left, without a name of its own.
  static let anything = rest(name: "*", isPath: false)

  /// `v:major<Int>.html`
  package struct Capture: Hashable, Sendable {
    package internal(set) var prefix = ""
    package internal(set) var name: String
    /// The type as it was written; nil for text.
    package internal(set) var type: String?
    package internal(set) var suffix = ""
  }

  /// The name of the value; nil for a literal.
  package var name: String? {
    switch self {
    case .literal: nil
    case .capture(let capture): capture.name
    case .rest(let name, _): name
    }
  }

  /// Whether it takes what is left, if anything.
  package var isRest: Bool { if case .rest(_, isPath: false) = self { true } else { false } }

  /// Returns the key of a type's name: in lower case, with a float as a double.
  package static func typeKey(_ name: String) -> String {
    let key = name.lowercased()
    return key == "float" ? "double" : key
  }
}

/// One form of a pattern, without the names of its parameters and without its query. Two routes of one priority that
/// share a shape are duplicates.
package typealias RouteShape = PatternParts

extension PatternParts {
  /// Returns the shape of each form, the longest first. With `isPrefix`, anything may follow the pattern.
  package func shapes(isPrefix: Bool = false) -> [RouteShape] {
    variants(isPrefix: isPrefix).map { segments in
      RouteShape(scheme: scheme, isAbsolute: isAbsolute, variants: [segments.map(\.nameless)])
    }
  }
}

extension PatternSegment {
  /// The segment without the name of its value.
  fileprivate var nameless: PatternSegment {
    switch self {
    case .literal: return self
    case .capture(var capture):
      capture.name = ""
      capture.type = capture.type.map(Self.typeKey)
      return .capture(capture)
    case .rest(_, let isPath): return .rest(name: "", isPath: isPath)
    }
  }
}

/// A key of the query, or a parameter of the path.
package typealias PatternKey = ActionDeclaration.Parameter
