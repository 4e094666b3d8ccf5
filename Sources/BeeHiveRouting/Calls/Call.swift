/// The origin of a call.
public enum CallOrigin: String, Hashable, Sendable, Codable {
  /// Code of this process.
  case local
  /// Somebody outside: the text is all there is, and only receivers marked remote answer.
  case remote
}

/// The destination of a call: an action by its two names, or whatever a URL leads to.
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

/// One call on its way from the caller to its answer.
public struct Call: Sendable, CustomStringConvertible {
  /// A number that no other call of this process has.
  public let number: UInt64
  /// The origin of the call.
  public let origin: CallOrigin
  /// The present destination; a redirection changes it.
  public internal(set) var destination: Destination
  /// The arguments given with the URL; for an action, all arguments.
  public internal(set) var arguments: Arguments
  /// The URL of the destination, taken apart; nil for an action that was called by its names.
  public internal(set) var url: URLText?
  /// The URL that the call began with; nil if it began with an action's names.
  public internal(set) var originalURL: URLText?
  /// The destinations so far, in order.
  package internal(set) var trail: [Destination]
  /// The aliases that led to the destination, as URLs.
  var aliases: [URLText] = []
  /// The host's values that conditions test, once a condition needs them.
  var context: Arguments?
  /// Keys of the URL's query that a rule has taken away.
  var withheld: Set<String> = []
  /// Whether a cached target may answer.
  let caching: Bool

  init(
    number: UInt64 = nextNumber(), to destination: Destination, origin: CallOrigin,
    arguments: Arguments = [:], caching: Bool = true
  ) {
    self.number = number
    // A handler of a call from outside reaches no more than its caller, whatever origin it gives.
    self.origin = Nesting.current.origin == .remote ? .remote : origin
    self.destination = destination
    self.arguments = arguments
    self.caching = caching
    trail = [destination]
  }

  /// The target and the action; nil if the destination is a URL.
  public var action: (target: String, action: String)? {
    if case .action(let target, let action) = destination { (target, action) } else { nil }
  }

  /// Returns the arguments of a receiver whose pattern gives these values. Values of the path override the query,
  /// and the call's own arguments override both.
  func given(_ values: PathValues, keys isTaken: (String) -> Bool = { _ in true }) -> Arguments {
    var given = Arguments()
    if action == nil, let url {
      for item in url.items where isTaken(item.name) {
        given.append(item.value ?? "", for: item.name)
      }
    }
    for (name, value) in values {
      // Text stays text: a receiver may ask for it as a number.
      given.values[name] = (value as? String).map { .texts([$0]) } ?? .value(value)
    }
    for key in withheld { given.values[key] = nil }
    return given.merging(arguments)
  }

  /// `remote call 12 of shop.price`
  public var description: String { "\(origin) call \(number) of \(destination)".escaped }
}

/// The parts that calls of a handler take over from the call that it answers.
struct Nesting: Sendable {
  @TaskLocal static var current = Nesting()

  /// The call that is being answered; nil outside of handlers.
  var call: Call?
  /// The origin of the handler's own calls, whatever they say.
  var origin: CallOrigin = .local
  /// The number of nested answers.
  var depth = 0

  /// A larger depth counts as a loop. Each call adds one, and one more if a handler answers it.
  static let most = 128

  /// Runs the code that answers a call. Calls from there have the origin of this call, unless the code is elevated.
  static func answering<Result>(
    _ call: Call, _ exposure: Exposure, _ body: () async throws -> Result
  ) async throws -> Result {
    var nesting = current
    nesting.call = call
    nesting.depth += 1
    nesting.origin = exposure == .elevated ? .local : call.origin
    return try await $current.withValue(nesting, operation: body)
  }
}

extension Call {
  /// The call that the running handler answers; nil outside of handlers.
  ///
  /// Belongs to the task. Detached tasks and new threads have none, and their calls are local.
  public static var current: Call? { Nesting.current.call }
}

/// A handler of calls that nothing else answers: of missing actions, of URLs without a route.
typealias Fallback<Asked> = (
  exposure: Exposure, answer: @Sendable (Asked) async throws -> any Sendable
)

extension Exposure {
  /// Returns whether a receiver with this exposure answers calls of an origin.
  func answers(_ origin: CallOrigin) -> Bool { origin == .local || isRemote }
}
