public import BeeHive
public import BeeHiveRouting
internal import Synchronization
public import Tracing

extension Hive {
  /// Makes a span of each step and event of a module. The module's code runs inside it.
  @discardableResult
  public func trace(to tracer: any Tracer) -> Handle {
    let spans = OpenSpans<ModuleStep>(tracer)
    return observe(setting: ServiceContext.$current) { notice in
      switch notice {
      case .stepBegan(let step):
        return spans.begin(step, "\(step.event) \(step.module)")
      case .stepEnded(let step, _, let failure):
        spans.end(step, step.attributes(failure), failure)
      default: break
      }
      return nil
    }
  }
}

extension Router {
  /// Makes a span of each call of this router and of its mediator. The handler or action runs inside the span.
  @discardableResult
  public func trace(to tracer: any Tracer) -> Handle {
    let spans = OpenSpans<UInt64>(tracer)
    return calls.observe(setting: ServiceContext.$current) { notice in
      switch notice {
      case .began(let call):
        return spans.begin(call.number, name(of: call) ?? "call")
      case .ruled(let call, let rule, _):
        spans[call.number]?.addEvent(
          SpanEvent(name: "beehive.call.ruled", attributes: ["beehive.rule.name": .string(rule)]))
      case .ended(let call, let error):
        // A rule or an alias may have redirected the call.
        spans[call.number]?.operationName = name(of: call, error) ?? "call"
        spans.end(call.number, attributes(of: call, error), error)
      }
      return nil
    }
  }
}

/// The spans of the steps or calls in progress.
private final class OpenSpans<Key: Hashable & Sendable>: Sendable {
  private let tracer: any Tracer
  private let spans = Mutex<[Key: any Span]>([:])

  init(_ tracer: any Tracer) { self.tracer = tracer }

  subscript(key: Key) -> (any Span)? { spans.withLock { $0[key] } }

  /// Begins a span inside the caller's span. Returns the context for the code inside the new span.
  func begin(_ key: Key, _ name: String) -> ServiceContext {
    let span = tracer.startSpan(name)
    spans.withLock { $0[key] = span }
    return span.context
  }

  func end(_ key: Key, _ attributes: [String: String], _ error: (any Error)?) {
    guard let span = spans.withLock({ $0.removeValue(forKey: key) }) else { return }
    span.updateAttributes { own in
      for (name, value) in attributes { own[name] = value }
    }
    if let error {
      span.recordError(error)
      span.setStatus(SpanStatus(code: .error, message: "\(error)"))
    }
    span.end()
  }
}
