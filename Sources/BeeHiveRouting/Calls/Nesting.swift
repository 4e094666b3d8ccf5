/// What calls that a handler makes take over from the call that it answers.
struct Nesting: Sendable {
  @TaskLocal static var current = Nesting()

  /// The call that is being answered; nil outside of handlers.
  var call: Call?
  /// The origin of the handler's own calls, whatever they say.
  var origin: CallOrigin = .local
  /// The URLs that handlers of unmatched ones are answering, the first one first: such a handler that opens
  /// what is missing too is asked again.
  var unmatched: [String] = []
  /// The number of answers to calls that are one inside the other.
  var depth = 0

  /// More of them are taken for a loop: each call is one, and one more where a handler answers it.
  static let most = 128

  static func endless(_ call: Call) -> RoutingError {
    RoutingError(
      .redirectLoop,
      "\(call.destination) is called by what answers calls, \(most / 2) of them one inside the other"
    )
  }

  /// Runs what answers a call: what it calls comes from where the call comes from, unless it is elevated.
  static func answering<Result>(
    _ call: Call, _ exposure: Exposure, unmatched url: String? = nil,
    _ body: () async throws -> Result
  ) async throws -> Result {
    var nesting = current
    nesting.call = call
    nesting.depth += 1
    nesting.origin = exposure == .elevated ? .local : call.origin
    if let url { nesting.unmatched.append(url) }
    return try await $current.withValue(nesting, operation: body)
  }
}

extension Call {
  /// The call that the running handler answers; nil outside of handlers.
  ///
  /// Belongs to the task: a detached task and a thread of one's own have none, and what they call is local.
  public static var current: Call? { Nesting.current.call }
}
