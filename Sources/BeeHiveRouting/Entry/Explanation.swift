internal import BeeHive
internal import BinaryImage
internal import Threads

/// What would become of a call: every step, and the end.
public struct Explanation: Hashable, Sendable {
  /// One rule, guard or interceptor that has a say.
  public struct Step: Hashable, Sendable {
    /// What it is called.
    public var rule: String
    /// Whether it is of the table or of code.
    public var source: RuleSource
    /// What it says; nil for an interceptor, which is not asked beforehand.
    public var verdict: String?
  }

  /// In the order in which they are asked.
  public var steps: [Step]
  /// Where the call would be sent, the first destination first.
  public var trail: [Destination]
  /// Who would answer, or the answer, or the error.
  public var end: String
  /// The error that the call would end in; nil where it would be answered.
  public var error: RoutingError?
}

extension Explanation: CustomStringConvertible {
  /// A line for each step, then the end.
  public var description: String {
    let lines = steps.map { step in
      "\(step.source.rawValue) \(step.rule): \(step.verdict ?? "decides when it is asked")".escaped
    }
    return (lines + [end.escaped]).joined(separator: "\n")
  }
}

extension EntryPoint {
  /// A dry run: what would happen to this URL. Nothing is called but the conditions of guards.
  public func explain(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:]
  ) -> Explanation {
    explain(.url(url), origin: origin, with: userInfo)
  }

  /// A dry run: what would happen to a call.
  public func explain(
    _ destination: Destination, origin: CallOrigin = .local, with arguments: Arguments = [:]
  ) -> Explanation {
    var call = Call(number: 0, to: destination, origin: origin, arguments: arguments)
    var steps: [Explanation.Step] = []
    do throws(RoutingError) {
      let end = try core.dryRun(&call, &steps)
      return Explanation(steps: steps, trail: call.trail, end: end.description)
    } catch {
      return Explanation(
        steps: steps, trail: call.trail, end: "error \(error.code.rawValue): \(error)",
        error: error)
    }
  }
}

/// How a dry run ends.
enum DryRunEnd {
  case receiver(Receiver)
  case answered(any Sendable)
}

extension DryRunEnd: CustomStringConvertible {
  /// Who would answer, or the answer.
  var description: String {
    switch self {
    case .answered(let value): "answered with \(value)"
    case .receiver(.action(let target, let action, _)):
      "action \(target.definition.name).\(action.declaration.name) of \(target.source)"
    case .receiver(.routes(let routes)):
      routes.first.map { "route \($0.route.pattern) of \($0.route.source)" } ?? ""
    case .receiver(.targetFallback(let target, _)):
      "the fallback of the target \(target.definition.name) of \(target.source)"
    case .receiver(.fallback): "the handler of missing actions"
    case .receiver(.unmatched): "the handler of unmatched URLs"
    }
  }
}

extension RoutingCore {
  /// The way of a call without calling anybody: interceptors are passed by.
  fileprivate func dryRun(
    _ call: inout Call, _ steps: inout [Explanation.Step]
  ) throws(RoutingError) -> DryRunEnd {
    let rules = rules.withLock { $0 }
    anew: while true {
      try resolve(&call)
      for met in rules.met(by: call) {
        let verdict = met.verdict(on: call)
        if case .declared = met.rule.decision, verdict == nil { continue }
        steps.append(
          .init(rule: met.rule.name, source: met.rule.source, verdict: verdict?.description))
        guard let verdict, let ruling = try apply(verdict, of: met, to: &call) else { continue }
        switch ruling {
        case .sentOn: continue anew
        case .answered(let value): return .answered(value)
        }
      }
      return .receiver(try receiver(of: call))
    }
  }

  /// Whether something would answer a URL, other than a handler of what is missing; nothing is called.
  func canOpen(_ url: String, origin: CallOrigin) -> Bool {
    var call = Call(number: 0, to: .url(url), origin: origin)
    var steps: [Explanation.Step] = []
    do throws(RoutingError) {
      switch try dryRun(&call, &steps) {
      case .answered, .receiver(.routes), .receiver(.action): return true
      case .receiver(.fallback), .receiver(.targetFallback), .receiver(.unmatched): return false
      }
    } catch {
      return false
    }
  }
}
