public import BeeHive
public import BeeHiveRouting
public import Metrics
internal import Synchronization

extension Hive {
  /// Counts and times each step of a module, and each event of a module.
  @discardableResult
  public func measure(to factory: any MetricsFactory) -> Handle {
    observe { notice in
      guard case .stepEnded(let step, let took, let failure) = notice else { return }
      factory.record("beehive.module.step", took, step.attributes(failure))
    }
  }
}

extension Router {
  /// Counts and times each call of this router and of its mediator.
  @discardableResult
  public func measure(to factory: any MetricsFactory) -> Handle {
    let starts = Mutex<[UInt64: ContinuousClock.Instant]>([:])
    return calls.observe { notice in
      switch notice {
      case .began(let call): starts.withLock { $0[call.number] = .now }
      case .ruled: break
      case .ended(let call, let error):
        guard let start = starts.withLock({ $0.removeValue(forKey: call.number) }) else { return }
        factory.record("beehive.call", start.duration(to: .now), attributes(of: call, error))
      }
    }
  }
}

extension MetricsFactory {
  /// Adds one to the counter of `name`, and records how long it took.
  fileprivate func record(_ name: String, _ took: Duration, _ attributes: [String: String]) {
    let dimensions = attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    Counter(label: "\(name)s", dimensions: dimensions, factory: self).increment()
    Timer(
      label: "\(name).duration", dimensions: dimensions, preferredDisplayUnit: .seconds,
      factory: self
    ).record(duration: took)
  }
}
