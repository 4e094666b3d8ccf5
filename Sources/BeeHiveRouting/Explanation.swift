/// The steps of a call as a dry run finds them, and its end.
public struct Explanation: Hashable, Sendable, CustomStringConvertible {
  /// The answers of the rules, guards and interceptors that match the call, in the order of their turns.
  package var steps: [String]
  /// The destinations of the call, in order.
  package var trail: [Destination]
  /// The receiver that would answer, or the answer, or the error.
  package var end: String
  /// The error that the call would end in; nil if it would be answered.
  public var error: RoutingError?

  /// A line for each step, then the end.
  public var description: String { (steps + [end.escaped]).joined(separator: "\n") }
}

extension EntryPoint {
  /// Returns what would happen to a URL.
  ///
  /// A dry run: it calls only the conditions of guards and assumes that interceptors let the call pass. It loads a
  /// plugin that the call would load on demand.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: The origin that the call would have.
  ///   - userInfo: The values that would be given with the URL.
  /// - Returns: Every step, and the end.
  public func explain(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:]
  ) -> Explanation {
    explain(.url(url), origin: origin, with: userInfo)
  }

  /// Returns what would happen to a call.
  ///
  /// A dry run: it calls only the conditions of guards and assumes that interceptors let the call pass. It loads a
  /// plugin that the call would load on demand.
  ///
  /// - Parameters:
  ///   - destination: A URL, or an action by its names.
  ///   - origin: The origin that the call would have.
  ///   - arguments: The values that would be given with the URL; for an action, all arguments.
  /// - Returns: Every step, and the end.
  public func explain(
    _ destination: Destination, origin: CallOrigin = .local, with arguments: Arguments = [:]
  ) -> Explanation {
    let call = Call(number: 0, to: destination, origin: origin, arguments: arguments)
    var plan = CallPlan(call, by: core)
    var explanation = Explanation(steps: [], trail: [], end: "")
    do throws(RoutingError) {
      explanation.end = try plan.end { explanation.steps.append($0().escaped) }.description()
    } catch {
      explanation.end = "error \(error.code.rawValue): \(error)"
      explanation.error = error
    }
    explanation.trail = plan.call.trail
    return explanation
  }
}

extension CallPlan {
  /// Goes to the end of the call without calling anybody. Interceptors are skipped.
  fileprivate mutating func end(
    noting note: (() -> String) -> Void = { _ in }
  ) throws(RoutingError) -> Receiver {
    while let (met, unmet) = try next() {
      let isThere = unmet == nil && isThere(met.rule.verdict, of: met)
      note {
        let rule = met.rule
        var (kind, saying) = (rule.isOfTable ? "table" : "guard", rule.verdict.description)
        if rule.interceptor != nil { (kind, saying) = ("interceptor", "decides when it is asked") }
        if let unmet { saying = "has no say: \(unmet) does not hold" }
        if isThere { saying = "has no say: the call is there already" }
        return "\(kind) \(rule.name): \(saying)"
      }
      if unmet == nil, !isThere { try take(met.rule.verdict, of: met) }
    }
    return try receiver()
  }
}

extension Router {
  /// Returns whether a route, or a target and action, would answer a URL.
  ///
  /// The dry run of ``EntryPoint/explain(_:origin:with:)-(String,_,_)`` without its text. Rules, types, declared query
  /// and exposure count. It calls only the conditions of guards and assumes that interceptors let the call pass. A URL
  /// that only a handler of unmatched URLs or missing actions would answer cannot be opened.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: The origin that the call would have.
  /// - Returns: Whether `open` would reach a route, an action or a rule that answers.
  public func canOpen(_ url: String, origin: CallOrigin = .local) -> Bool {
    var plan = CallPlan(Call(number: 0, to: .url(url), origin: origin), by: core)
    return (try? plan.end())?.isFallback == false
  }
}
