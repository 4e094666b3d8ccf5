/// Whom a route, an action or a handler answers, and what its own calls may reach.
public enum Exposure: String, Hashable, Sendable, Codable, CustomStringConvertible {
  /// Calls of this process alone.
  case local
  /// Calls from outside too. What it opens for one of these is opened from outside as well.
  case remote
  /// Calls from outside too; what it opens is opened as code of this process opens it.
  ///
  /// For what checks by itself what is asked of it: a URL that it opens must not come from the caller.
  case elevated

  /// Whether calls from outside are answered.
  public var isRemote: Bool { self != .local }

  /// `remote`
  public var description: String { rawValue }

  /// The prefix of a declaration: the word and a blank; nothing for what is local.
  package var mark: String { self == .local ? "" : "\(rawValue) " }
}
