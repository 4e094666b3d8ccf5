internal import BeeHive
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
      "\(step.source.rawValue) \(step.rule): \(step.verdict ?? "decides when it is asked")"
    }
    return (lines + [end]).joined(separator: "\n")
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
    core.explain(
      Call(
        number: 0, origin: origin, destination: destination, arguments: arguments, url: nil,
        originalURL: nil, trail: [destination]))
  }
}

extension RoutingCore {
  fileprivate func explain(_ call: Call) -> Explanation {
    var call = call
    var steps: [Explanation.Step] = []
    do throws(RoutingError) {
      let end = try walk(&call, &steps)
      return Explanation(steps: steps, trail: call.trail, end: end)
    } catch {
      return Explanation(
        steps: steps, trail: call.trail, end: "error \(error.code.rawValue): \(error)",
        error: error)
    }
  }

  private func walk(
    _ call: inout Call, _ steps: inout [Explanation.Step]
  ) throws(RoutingError) -> String {
    let rules = rules.withLock { $0.rules }
    anew: while true {
      try resolve(&call)
      for rule in rules {
        guard let parameters = rule.match.parameters(of: call) else { continue }
        guard case .declared(let condition, let verdict) = rule.decision else {
          steps.append(.init(rule: rule.name, source: rule.source, verdict: nil))
          continue
        }
        if let condition, !condition(call, parameters) { continue }
        steps.append(.init(rule: rule.name, source: rule.source, verdict: verdict.description))
        switch verdict {
        case .proceed: continue
        case .replace(let arguments): call.replace(arguments)
        case .redirect(let destination):
          try follow(destination, &call)
          continue anew
        case .refuse(let reason):
          throw RoutingError(.refused, "\(call.destination) was refused: \(reason)")
        case .answer(let value): return "answered with \(value)"
        }
      }
      return try receiver(of: call)
    }
  }

  /// Who would answer a call that every rule lets pass.
  private func receiver(of call: Call) throws(RoutingError) -> String {
    if let (name, action) = call.action {
      let (target, found) = try declared(name, action, origin: call.origin)
      _ = try Self.check(call.arguments, against: found, of: "\(name).\(action)")
      return "action \(name).\(action) of \(target.source)"
    }
    guard let url = call.url else { throw .init(.noRoute, "nobody answers to \(call.destination)") }
    let (table, matches) = meet(url)
    let allowed = try Self.allowed(matches, for: call, at: url)
    var unfit: RoutingError?
    for (route, values) in allowed {
      do throws(RoutingError) {
        _ = try RouteParameters.collect(
          of: call, at: url, for: route, types: table.types, path: values)
        return "route \(route.pattern) of \(route.source)"
      } catch {
        unfit = unfit ?? error
      }
    }
    if table.unmatched(for: url) != nil { return "the handler of unmatched URLs" }
    throw unfit ?? Self.nobody(answersTo: url)
  }
}
