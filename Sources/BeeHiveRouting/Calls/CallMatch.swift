/// Which calls an interceptor or a rule is asked about.
public struct CallMatch: Sendable {
  enum Subject: Sendable {
    case everything
    case url(RoutePattern, forms: [RouteTree.Form])
    case action(ActionName)
  }

  let subject: Subject
  let origin: CallOrigin?
  /// What is matched, for people.
  package let description: String

  private init(_ subject: Subject, _ origin: CallOrigin?, _ description: String) {
    self.subject = subject
    self.origin = origin
    self.description = origin.map { "\($0) \(description)" } ?? description
  }

  /// Matches every call, or every call of one origin.
  ///
  /// - Parameter origin: Where the calls come from; nil for any.
  /// - Returns: The match.
  public static func everything(from origin: CallOrigin? = nil) -> CallMatch {
    CallMatch(.everything, origin, "calls")
  }

  /// Matches calls of an action.
  ///
  /// - Parameters:
  ///   - target: The target's name; `*` for every target.
  ///   - action: The action's name; `*` for every action.
  ///   - origin: Where the calls come from; nil for any.
  /// - Returns: The match.
  public static func action(
    _ target: String, _ action: String, from origin: CallOrigin? = nil
  ) -> CallMatch {
    let name = ActionName(target: target, action: action)
    return CallMatch(.action(name), origin, name.description)
  }

  /// Matches calls by a URL that a pattern matches, whether a route answers to it or not.
  ///
  /// - Parameters:
  ///   - pattern: As ``RoutePattern`` reads it; its query says nothing here.
  ///   - origin: Where the calls come from; nil for any.
  /// - Returns: The match.
  /// - Throws: ``RoutingError`` with `badPattern` if the pattern cannot be read, with `unknownType` if it
  ///   names a type that is not built in: types of ``Router/define(_:_:)`` are not known here.
  public static func url(
    _ pattern: String, from origin: CallOrigin? = nil
  ) throws(RoutingError) -> CallMatch {
    try url(RoutePattern(pattern), types: SegmentTypes(), from: origin)
  }

  static func url(
    _ pattern: RoutePattern, types: SegmentTypes, from origin: CallOrigin?
  ) throws(RoutingError) -> CallMatch {
    let forms = try pattern.variants.map { variant throws(RoutingError) in
      try RouteTree.Form(variant, of: pattern, types: types)
    }
    return CallMatch(.url(pattern, forms: forms), origin, pattern.text)
  }

  /// The names that the path gives values to, whatever the form.
  var names: Set<String> {
    guard case .url(let pattern, _) = subject else { return [] }
    let forms = pattern.variants.map { Set(RoutePattern.names(in: $0)) }
    return forms.dropFirst().reduce(forms.first ?? []) { $0.intersection($1) }
  }
}

/// A target and one of its actions.
struct ActionName: Hashable, Sendable, CustomStringConvertible {
  var target: String
  var action: String

  /// In a match: every name.
  static let any = "*"

  /// `shop.price`
  var description: String { "\(target).\(action)" }
}
