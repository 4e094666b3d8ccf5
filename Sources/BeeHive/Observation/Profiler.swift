internal import LibC
internal import Threads

/// The time that each module takes for each step and event: always measured, in release builds too.
///
/// Times come from the monotonic clock. Every run is a span of its own, even if a module gets one event several times.
/// The latest spans are kept.
public final class Profiler: Sendable {
  /// One run of one module.
  package struct Span: Hashable, Sendable {
    /// The module's name.
    package var module: String
    /// The step or event.
    package var event: String
    /// The number of runs of this module for this event so far, including this run.
    package var run: Int
    /// The start, counted from the creation of the profiler.
    package var start: Duration
    /// The time that the run took.
    package var duration: Duration
    /// Whether the run succeeded.
    package var isSuccess: Bool
    /// The lowest number that no other running span had: 0 unless several run at the same time.
    package var lane: Int

    fileprivate var key: [String] { [module, event] }
  }

  private let origin = ContinuousClock.now
  private let limit: Int
  /// The spans, the number of runs by module and event, and the lanes that are taken.
  private let kept = Lock<(spans: [Span], runs: [[String]: Int], lanes: Set<Int>)>(([], [:], []))

  /// Creates a profiler that keeps the latest spans.
  ///
  /// - Parameter limit: The least number of spans to keep, 1 or more. At most twice as many are kept.
  package init(limit: Int = 10_000) { self.limit = max(1, limit) }

  /// The spans, in the order of their ends.
  package var spans: [Span] { kept.withLock { $0.spans } }

  /// Measures the application's own code.
  ///
  /// - Parameters:
  ///   - name: Shown as the module's name.
  ///   - event: Shown as its step.
  ///   - body: The code to measure, run once on the calling thread.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; the span is marked as failed.
  public func measure<Result>(
    _ name: String, _ event: String = "application", _ body: () throws -> Result
  ) rethrows -> Result {
    let start = begin(name, event)
    var isSuccess = false
    defer { end(start, isSuccess: isSuccess) }
    let result = try body()
    isSuccess = true
    return result
  }

  /// Measures the application's own asynchronous code.
  ///
  /// - Parameters:
  ///   - name: Shown as the module's name.
  ///   - event: Shown as its step.
  ///   - isolation: The actor that `body` runs on: the caller's.
  ///   - body: The code to measure, run once. Waiting time counts.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; the span is marked as failed.
  public func measure<Result>(
    _ name: String, _ event: String = "application", isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let start = begin(name, event)
    var isSuccess = false
    defer { end(start, isSuccess: isSuccess) }
    let result = try await body()
    isSuccess = true
    return result
  }

  /// Notes that a module begins. Returns the unfinished span, for `end`.
  func begin(_ module: String, _ event: String) -> Span {
    let lane = kept.withLock { kept in
      var lane = 0
      while !kept.lanes.insert(lane).inserted { lane += 1 }
      return lane
    }
    return Span(
      module: module, event: event, run: 0, start: origin.duration(to: .now), duration: .zero,
      isSuccess: false, lane: lane)
  }

  /// Notes that a module has ended.
  func end(_ begun: Span, isSuccess: Bool) {
    var span = begun
    span.duration = origin.duration(to: .now) - span.start
    span.isSuccess = isSuccess
    kept.withLock { kept in
      kept.lanes.remove(span.lane)
      span.run = kept.runs[span.key, default: 0] + 1
      kept.runs[span.key] = span.run
      if kept.spans.count >= 2 * limit {
        kept.spans.removeFirst(limit)
        let keys = Set(kept.spans.map(\.key)).union([span.key])
        kept.runs = kept.runs.filter { keys.contains($0.key) }
      }
      kept.spans.append(span)
    }
  }
}

extension Profiler {
  /// Returns the spans as aligned columns for people.
  ///
  /// - Returns: A line for each span, the slowest first; times in milliseconds.
  public func table() -> String {
    let rows = spans.sorted { $0.duration > $1.duration }.map { span in
      [
        "\(span.duration.milliseconds) ms", span.module.escaped, span.event.escaped,
        span.run > 1 ? "run \(span.run)" : "", span.isSuccess ? "" : "failed",
      ]
    }
    return rows.aligned(firstToTheRight: true).joined(separator: "\n")
  }

  /// Returns the spans as Chrome's trace format.
  ///
  /// - Returns: JSON that Perfetto and chrome://tracing open; times in microseconds since the profiler was created.
  public func chromeTrace() -> String {
    let process = getpid()
    let events = spans.map { span in
      """
      {"name":\("\(span.module) \(span.event)".quotedForJSON),"cat":\(span.event.quotedForJSON),\
      "ph":"X","ts":\(span.start.microseconds),"dur":\(span.duration.microseconds),\
      "pid":\(process),"tid":\(span.lane),"args":{"module":\(span.module.quotedForJSON),\
      "run":\(span.run),"success":\(span.isSuccess)}}
      """
    }
    return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n\(events.joined(separator: ",\n"))\n]}\n"
  }
}

extension Duration {
  /// Whole microseconds.
  fileprivate var microseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }

  /// Milliseconds with three digits.
  fileprivate var milliseconds: String {
    let digits = String(microseconds % 1000)
    return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - digits.count))\(digits)"
  }
}
