/// The reason why a URL, a call, a pattern or a decision table was refused.
public struct RoutingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The cause, as a stable code: `rawValue` is what is printed and documented.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The text is no URL that this router reads; the message has the byte and the rule.
    case malformedURL = "malformed-url"
    /// The URL is longer, deeper or has more parameters than the limits allow.
    case limitExceeded = "limit-exceeded"
    /// The pattern cannot be read, or one of its parts is where it may not be.
    case badPattern = "bad-pattern"
    /// A pattern or a declaration names a type that is not defined.
    case unknownType = "unknown-type"
    /// A route, target or action of the same shape and priority is registered already.
    case duplicate = "duplicate"
    /// No route matches the URL, and no target has its name.
    case noRoute = "no-route"
    /// No target of this name is registered.
    case noTarget = "no-target"
    /// The target has no action of this name.
    case noAction = "no-action"
    /// A parameter without a default is not given.
    case missingParameter = "missing-parameter"
    /// A parameter is given, but as another type than the declared one.
    case wrongParameter = "wrong-parameter"
    /// A parameter is given that the action does not declare.
    case undeclaredParameter = "undeclared-parameter"
    /// The result is of another type than the caller asks for.
    case wrongResult = "wrong-result"
    /// The route or action is not marked remote, and the call comes from outside.
    case notRemote = "not-remote"
    /// The action's name begins with `native`: such actions are never remote.
    case native = "native"
    /// An interceptor, a rule or every matching handler refused; the message has the reason.
    case refused = "refused"
    /// Redirections lead back to where they were, or never end; the message has the path.
    case redirectLoop = "redirect-loop"
    /// The decision table contradicts its schema or itself; the message lists every problem.
    case badTable = "bad-table"
    /// The target cannot be made, or a C action failed.
    case failed = "failed"
  }

  /// The cause.
  public var code: Code
  /// One sentence for a person: what was found and what to do. Text from a URL or a file is escaped, so that the
  /// message has no line breaks.
  public let message: String
  /// The parameter it concerns.
  public var key: String?
  /// The entries it concerns.
  package var sources: [Source]
  /// Whether a handler throws it to give the next matching route its turn. With `noRoute`, its route has gone
  /// meanwhile and has no say.
  private(set) var isRefusal = false

  /// Describes a failure.
  ///
  /// - Parameters:
  ///   - code: The cause.
  ///   - message: One sentence for a person; line breaks and control characters in it are escaped.
  ///   - key: The parameter it concerns; escaped as the message is.
  ///   - sources: The entries it concerns.
  public init(_ code: Code, _ message: String, key: String? = nil, sources: [Source] = []) {
    self.code = code
    self.message = message.escaped
    self.key = key?.escaped
    self.sources = sources
  }

  /// Throws an error unless something is right.
  static func check(
    _ isRight: Bool, _ code: Code, _ message: @autoclosure () -> String, key: String? = nil,
    sources: @autoclosure () -> [Source] = []
  ) throws(RoutingError) {
    if !isRight { throw RoutingError(code, message(), key: key, sources: sources()) }
  }

  /// Returns the error as one that gives the next matching route its turn, or as one that ends its call.
  func asRefusal(_ isRefusal: Bool = true) -> RoutingError {
    var error = self
    error.isRefusal = isRefusal
    return error
  }

  /// The message.
  public var description: String { message }
}
