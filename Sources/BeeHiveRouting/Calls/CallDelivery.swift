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
        case .receiver(let receiver): return try await receiver.answer()
        }
        if case .proceed = decision.verdict { continue }
        observers.tell(.ruled(plan.call, by: decision.met.rule.name, decision.verdict))
        try plan.take(decision.verdict, of: decision.met)
      }
    } catch let refusal as RoutingError where refusal.isRefusal {
      // Where no other route can be asked it is an error of this call, and none of the one around it.
      throw RoutingError(.refused, "\(plan.call.destination) was refused: \(refusal)")
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
