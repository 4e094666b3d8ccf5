internal import Threads

/// The way of a call, step by step: the one place that says what comes next.
///
/// `send` carries it out, `explain` prints it, and `canOpen` looks at its end. One snapshot of the rules holds
/// for all of it: a table that is swapped meanwhile decides about later calls.
struct CallPlan {
  /// What comes next.
  enum Step {
    /// A rule matches the call, but one of its conditions does not hold; `because` names it.
    case passed(MetRule, because: String)
    /// A rule has decided: for `take`.
    case decided(MetRule, Verdict)
    /// Code is to be asked what it decides: for `take`.
    case asks(MetRule, @Sendable (Call) async throws -> Verdict)
    /// This answers.
    case receiver(Receiver)
  }

  private let core: RoutingCore
  private let rules: RuleList
  /// As it is now: resolved, and where it has been sent.
  private(set) var call: Call
  /// The rules that are still to be asked; nil where the call has another destination since they were looked up.
  private var left: ArraySlice<MetRule>?
  private var answer: (any Sendable)?

  init(_ call: Call, by core: RoutingCore) {
    (self.core, self.call) = (core, call)
    rules = core.rules.withLock { $0 }
  }

  /// The next step; throws the error that the call ends in.
  mutating func next() throws(RoutingError) -> Step {
    if let answer { return .receiver(.rule(answer)) }
    if left == nil {
      try core.resolve(&call)
      left = rules.met(by: call)[...]
    }
    guard let met = left?.popFirst() else { return .receiver(try core.receiver(of: call)) }
    switch met.rule.decision {
    case .code(let interceptor): return .asks(met, interceptor)
    case .declared(let requirements, let verdict):
      let given = met.parameters(of: call)
      guard let unmet = requirements.first(where: { !$0.holds(call, given) }) else {
        return .decided(met, verdict)
      }
      return .passed(met, because: unmet.text)
    }
  }

  /// Does what a verdict says.
  mutating func take(_ verdict: Verdict, of met: MetRule) throws(RoutingError) {
    switch verdict {
    case .proceed: break
    case .replace(let arguments): call.replace(arguments)
    case .redirect(let destination):
      // Where the call is there already, the next rule decides.
      if try call.follow(destination, by: met) { left = nil }
    case .refuse(let reason):
      throw RoutingError(.refused, "\(call.destination) was refused: \(reason)")
    case .answer(let value): answer = value
    }
  }
}
