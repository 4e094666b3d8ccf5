/// Who calls.
public enum CallOrigin: String, Hashable, Sendable, Codable {
  /// Code of this process.
  case local
  /// Somebody outside: what the text says is all there is, and only what is marked remote answers.
  case remote
}

/// What is called: an action by its two names, or whatever a URL leads to.
public enum Destination: Hashable, Sendable, CustomStringConvertible {
  /// A route, an alias, or an action as `scheme://target/action?parameters`.
  case url(String)
  /// An action of a target.
  case action(target: String, action: String)

  /// The URL, or `shop.price`.
  public var description: String {
    switch self {
    case .url(let text): text
    case .action(let target, let action): "\(target).\(action)"
    }
  }
}

/// One call on its way from the caller to what answers it.
public struct Call: Sendable, CustomStringConvertible {
  /// Differs from that of every other call of this process.
  public let number: UInt64
  /// Who calls.
  public let origin: CallOrigin
  /// What is called now; a redirection changes it.
  public internal(set) var destination: Destination
  /// What is given beside the URL; for an action, all that is given.
  public internal(set) var arguments: Arguments
  /// The URL of the destination, taken apart; nil for an action that was called by its names.
  public internal(set) var url: URLText?
  /// The URL that the call began with; nil where it began with an action's names.
  public internal(set) var originalURL: URLText?
  /// Where the call has been, the first destination first.
  package internal(set) var trail: [Destination]
  /// Keys of the URL's query that a rule has taken away.
  var withheld: Set<String> = []
  /// Whether a cached target may answer.
  let caching: Bool

  init(
    number: UInt64 = RoutingCore.nextNumber(), to destination: Destination, origin: CallOrigin,
    arguments: Arguments = [:], caching: Bool = true
  ) {
    self.number = number
    // Who answers a call from outside reaches no more than the caller, whatever it says.
    self.origin = Nesting.current.origin == .remote ? .remote : origin
    self.destination = destination
    self.arguments = arguments
    self.caching = caching
    trail = [destination]
  }

  /// The target and the action, where that is what is called.
  public var action: (target: String, action: String)? {
    if case .action(let target, let action) = destination { (target, action) } else { nil }
  }

  /// `remote call 12 of shop.price`
  public var description: String { "\(origin) call \(number) of \(destination)".escaped }
}
