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
  /// The aliases that led to the destination, as URLs.
  var aliases: [URLText] = []
  /// The values of the host that conditions test, once one needs them.
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

  /// The arguments of a receiver whose pattern gives these values: the query below the path below what is given
  /// beside the URL.
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
  /// The number of answers to calls that are one inside the other.
  var depth = 0

  /// More of them are taken for a loop: each call is one, and one more where a handler answers it.
  static let most = 128

  /// Runs what answers a call: what it calls comes from where the call comes from, unless it is elevated.
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
  /// Belongs to the task: a detached task and a thread of one's own have none, and what they call is local.
  public static var current: Call? { Nesting.current.call }
}

/// Answers what nothing else does: calls of missing actions, URLs that no route has.
typealias Fallback<Asked> = (
  exposure: Exposure, answer: @Sendable (Asked) async throws -> any Sendable
)

extension Exposure {
  /// Returns whether what is exposed so answers calls of an origin.
  func answers(_ origin: CallOrigin) -> Bool { origin == .local || isRemote }
}
