/// What would become of a call: every step, and the end.
public struct Explanation: Hashable, Sendable, CustomStringConvertible {
  /// One rule, guard or interceptor that matches the call.
  package struct Step: Hashable, Sendable {
    /// What it is called.
    package var rule: String
    /// Whether it is of the table or of code.
    package var source: RuleSource
    /// What it says; nil for an interceptor, which is not asked beforehand, and where it has no say.
    package var verdict: String?
    /// The condition of it that does not hold, so that it has no say; nil where all do.
    package var unmet: String?
  }

  /// In the order in which they are asked.
  package var steps: [Step]
  /// Where the call would be sent, the first destination first.
  package var trail: [Destination]
  /// Who would answer, or the answer, or the error.
  package var end: String
  /// The error that the call would end in; nil where it would be answered.
  public var error: RoutingError?

  /// A line for each step, then the end.
  public var description: String {
    let lines = steps.map { step in
      let outcome =
        step.verdict ?? step.unmet.map { "has no say: \($0) does not hold" }
        ?? "decides when it is asked"
      return "\(step.source.rawValue) \(step.rule): \(outcome)".escaped
    }
    return (lines + [end.escaped]).joined(separator: "\n")
  }
}

extension EntryPoint {
  /// Returns what would happen to a URL.
  ///
  /// A dry run: nothing is called but the conditions of guards; interceptors are taken to let the call pass.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: Where the call would come from.
  ///   - userInfo: What would be given beside the URL.
  /// - Returns: Every step, and the end.
  public func explain(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:]
  ) -> Explanation {
    explain(.url(url), origin: origin, with: userInfo)
  }

  /// Returns what would happen to a call.
  ///
  /// A dry run: nothing is called but the conditions of guards; interceptors are taken to let the call pass.
  ///
  /// - Parameters:
  ///   - destination: A URL, or an action by its names.
  ///   - origin: Where the call would come from.
  ///   - arguments: What would be given beside the URL; for an action, all that would be given.
  /// - Returns: Every step, and the end.
  public func explain(
    _ destination: Destination, origin: CallOrigin = .local, with arguments: Arguments = [:]
  ) -> Explanation {
    let call = Call(number: 0, to: destination, origin: origin, arguments: arguments)
    var plan = CallPlan(call, by: core)
    var explanation = Explanation(steps: [], trail: [], end: "")
    do throws(RoutingError) {
      explanation.end = try plan.end(noting: &explanation.steps).description
    } catch {
      explanation.end = "error \(error.code.rawValue): \(error)"
      explanation.error = error
    }
    explanation.trail = plan.call.trail
    return explanation
  }
}

extension Receiver: CustomStringConvertible {
  /// Who would answer, or the answer.
  var description: String {
    switch self {
    case .rule(let value): "answered with \(value)"
    case .action(let target, let action, _):
      "action \(target.definition.name).\(action.declaration.name) of \(target.source)"
    case .routes(let routes):
      routes.first.map { "route \($0.route.pattern) of \($0.route.source)" } ?? ""
    case .targetFallback(let target, _):
      "the fallback of the target \(target.definition.name) of \(target.source)"
    case .fallback: "the handler of missing actions"
    case .unmatched: "the handler of unmatched URLs"
    }
  }
}

extension CallPlan {
  /// Goes to the end without calling anybody: interceptors are passed by.
  fileprivate mutating func end(
    noting steps: inout [Explanation.Step]
  ) throws(RoutingError) -> Receiver {
    while true {
      switch try next() {
      case .passed(let met, let unmet): steps.append(.init(met.rule, unmet: unmet))
      case .asks(let met, _): steps.append(.init(met.rule))
      case .decided(let met, let verdict):
        steps.append(.init(met.rule, verdict: verdict.description))
        try take(verdict, of: met)
      case .receiver(let receiver): return receiver
      }
    }
  }
}

extension Explanation.Step {
  fileprivate init(_ rule: CallRule, verdict: String? = nil, unmet: String? = nil) {
    self.init(rule: rule.name, source: rule.source, verdict: verdict, unmet: unmet)
  }
}

extension Router {
  /// Returns whether a route, or a target and action, would answer a URL.
  ///
  /// The dry run of ``EntryPoint/explain(_:origin:with:)-(String,_,_)`` without its text: rules, types, declared query and
  /// exposure count, and nothing is called but the conditions of guards. Interceptors are taken to let the
  /// call pass; what only a handler of unmatched URLs or missing actions would answer cannot be opened.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: Where the call would come from.
  /// - Returns: Whether `open` would reach a route, an action or a rule that answers.
  public func canOpen(_ url: String, origin: CallOrigin = .local) -> Bool {
    var plan = CallPlan(Call(number: 0, to: .url(url), origin: origin), by: core)
    var steps: [Explanation.Step] = []
    guard let end = try? plan.end(noting: &steps) else { return false }
    return switch end {
    case .rule, .routes, .action: true
    case .fallback, .targetFallback, .unmatched: false
    }
  }
}
