internal import BeeHive

/// Which calls an interceptor or a rule is asked about.
public struct CallMatch: Sendable {
  private enum Subject: Sendable {
    case everything
    case url(RouteTree)
    case action(target: String, action: String)
  }

  private let subject: Subject
  private let origin: CallOrigin?
  /// What is matched, for people.
  public let description: String

  private init(_ subject: Subject, _ origin: CallOrigin?, _ description: String) {
    self.subject = subject
    self.origin = origin
    self.description = origin.map { "\($0) \(description)" } ?? description
  }

  /// Every call, or those of one origin.
  public static func everything(from origin: CallOrigin? = nil) -> CallMatch {
    CallMatch(.everything, origin, "calls")
  }

  /// Calls of this action; `*` stands for every target or every action.
  public static func action(
    _ target: String, _ action: String, from origin: CallOrigin? = nil
  ) -> CallMatch {
    CallMatch(.action(target: target, action: action), origin, "\(target).\(action)")
  }

  /// Calls by a URL that a pattern matches, whether a route answers to it or not.
  public static func url(
    _ pattern: String, from origin: CallOrigin? = nil
  ) throws(RoutingError) -> CallMatch {
    try url(RoutePattern(pattern), types: SegmentTypes(), from: origin)
  }

  static func url(
    _ pattern: RoutePattern, types: SegmentTypes, from origin: CallOrigin?
  ) throws(RoutingError) -> CallMatch {
    let tree = try RouteTree(of: pattern, types: types)
    return CallMatch(.url(tree), origin, pattern.text)
  }

  /// What a call is given, as far as a rule can know it, if the call is one of these; nil otherwise.
  ///
  /// A matching path stands over the query, and what is given beside the URL over both.
  func parameters(of call: Call) -> Arguments? {
    guard origin == nil || origin == call.origin else { return nil }
    switch subject {
    case .everything: return Self.given(to: call)
    case .url(let tree):
      guard let url = call.url,
        let match = RouteSearch.matches(of: url, in: tree).first
      else { return nil }
      var parameters = Arguments(items: url.items)
      for (name, value) in match.values { parameters.values[name] = .texts(value.urlTexts) }
      return parameters.merging(call.arguments)
    case .action(let target, let action):
      guard let called = call.action, target == "*" || target == called.target,
        action == "*" || action == called.action
      else { return nil }
      return Self.given(to: call)
    }
  }

  private static func given(to call: Call) -> Arguments {
    guard let url = call.url, call.action == nil else { return call.arguments }
    return Arguments(items: url.items).merging(call.arguments)
  }
}
