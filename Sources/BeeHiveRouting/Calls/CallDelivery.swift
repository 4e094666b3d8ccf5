internal import Threads

/// What every call comes to: resolved, decided about as `CallPlan` says, answered.
extension RoutingCore {
  func send(
    _ destination: Destination, origin: CallOrigin, arguments: Arguments, caching: Bool = true
  ) async throws -> any Sendable {
    let call = Call(to: destination, origin: origin, arguments: arguments, caching: caching)
    guard Nesting.current.depth < Nesting.most else { throw Nesting.endless(call) }
    var plan = CallPlan(call, by: self)
    // Observers, guards and what makes a target are code of this call too.
    return try await Nesting.answering(call, .local) {
      observers.tell(.began(call))
      do {
        let result = try await carryOut(&plan)
        observers.tell(.ended(plan.call, nil))
        return result
      } catch {
        observers.tell(.ended(plan.call, error))
        throw error
      }
    }
  }

  private func carryOut(_ plan: inout CallPlan) async throws -> any Sendable {
    do {
      while true {
        let decision: (met: MetRule, verdict: Verdict)
        switch try plan.next() {
        case .passed: continue
        case .decided(let met, let verdict): decision = (met, verdict)
        case .asks(let met, let interceptor):
          let asked = plan.call
          decision = (
            met, try await Nesting.answering(asked, .remote) { try await interceptor(asked) }
          )
        case .receiver(let receiver): return try await answer(plan.call, by: receiver)
        }
        if case .proceed = decision.verdict { continue }
        observers.tell(.ruled(plan.call, by: decision.met.rule.name, decision.verdict))
        try plan.take(decision.verdict, of: decision.met)
      }
    } catch let refusal as RouteRefusal {
      // Where no other route can be asked it is an error of this call, and none of the one around it.
      throw RoutingError(.refused, "\(plan.call.destination) was refused: \(refusal.reason)")
    }
  }

  private func answer(_ call: Call, by receiver: Receiver) async throws -> any Sendable {
    switch receiver {
    case .rule(let value): return value
    case .action(let target, let action, let arguments):
      let instance = try target.instance(caching: call.caching)
      return try await Nesting.answering(call, action.declaration.exposure) {
        try await action.perform(instance, arguments)
      }
    case .routes(let routes): return try await answer(call, by: routes)
    case .targetFallback(let target, let answer):
      let instance = try target.instance(caching: call.caching)
      return try await Nesting.answering(call, .local) { try await answer(instance, call) }
    case .fallback(let fallback):
      return try await Nesting.answering(call, fallback.exposure) {
        try await fallback.answer(call)
      }
    case .unmatched(let url, let handler): return try await answer(call, at: url, by: handler)
    }
  }

  /// Calls the best of some routes; a handler that refuses leaves it to the next.
  func answer(_ call: Call, by routes: [Receiver.FitRoute]) async throws -> any Sendable {
    var refusals: [String] = []
    var departure: String?
    for fit in routes {
      do {
        return try await Nesting.answering(call, fit.route.exposure) {
          try await fit.route.definition.handler(fit.call)
        }
      } catch let refusal as RouteRefusal {
        if refusal.isDeparture {
          departure = refusal.reason
        } else {
          refusals.append("\(fit.route.pattern): \(refusal.reason)")
        }
      }
    }
    if refusals.isEmpty, let departure { throw RoutingError(.noRoute, departure) }
    throw RoutingError(
      .refused,
      "every route that \(call.destination) meets has refused: " + refusals.joined(separator: "; "))
  }

  /// Calls a handler of unmatched URLs.
  func answer(
    _ call: Call, at url: URLText, by handler: FallbackHandler<RouteCall>
  ) async throws -> any Sendable {
    let way = Nesting.current.unmatched + [url.text]
    try RoutingError.check(
      way.count <= Call.mostRedirections, .redirectLoop,
      "handlers of unmatched URLs open more than \(Call.mostRedirections) that are unmatched themselves: "
        + way.joined(separator: " → "))
    return try await Nesting.answering(call, handler.exposure, unmatched: url.text) {
      try await handler.answer(RouteCall(unmatched: call, at: url))
    }
  }
}

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
