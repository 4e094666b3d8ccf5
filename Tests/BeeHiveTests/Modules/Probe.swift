import BeeHive
import TestSupport
import Testing
import Threads

/// The lines that modules write, in order. Each test has its own journal.
final class Journal: Sendable {
  private let state = Lock<[String]>([])

  var lines: [String] { state.withLock { $0 } }

  func write(_ line: String) { state.withLock { $0.append(line) } }

  /// Returns the lines since the last call.
  func take() -> [String] {
    state.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

struct Broken: Error {}

/// A module that writes down its steps and events, and then does what the test wants.
class Probe: Module, @unchecked Sendable {
  // Sound: the variables are set before the Hive has it.
  typealias Action = @Sendable (_ step: String, _ context: Context) async throws -> Void
  typealias Answer = @Sendable (Event, Context) async throws -> EventResponse

  var name = ""
  var journal = Journal()
  var action: Action = { _, _ in }
  var answer: Answer = { _, _ in .handled }
  class var initializesConcurrently: Bool { false }

  required init() {}

  convenience init(_ name: String, _ journal: Journal) {
    self.init()
    (self.name, self.journal) = (name, journal)
  }

  private func take(_ step: String, _ context: Context) async throws {
    journal.write("\(name).\(step)")
    try await action(step, context)
  }

  func setUp(_ context: Context) async throws { try await take("setUp", context) }
  func initialize(_ context: Context) async throws { try await take("initialize", context) }
  func splash(_ context: Context) async throws { try await take("splash", context) }
  func tearDown(_ context: Context) async throws { try await take("tearDown", context) }
  func unmount(_ context: Context) async throws { try await take("unmount", context) }

  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    journal.write("\(name).\(event.name)")
    return try await answer(event, context)
  }
}

/// A probe whose `initialize` runs concurrently with that of other modules.
final class ConcurrentProbe: Probe, @unchecked Sendable {
  override class var initializesConcurrently: Bool { true }

  override func initialize(_ context: Context) async throws {
    try await super.initialize(context)
    journal.write("\(name).initialized")
  }
}

extension Hive {
  func probe(
    _ name: String, _ journal: Journal = Journal(), level: ModuleLevel = .normal,
    priority: Int = 0, requires: [String] = [], after: [String] = [], isConcurrent: Bool = false,
    _ action: @escaping Probe.Action = { _, _ in },
    answer: @escaping Probe.Answer = { _, _ in .handled }
  ) async throws {
    try await register(
      module: name, level: level, priority: priority, requires: requires, after: after
    ) { _ -> any Module in
      let probe = isConcurrent ? ConcurrentProbe() : Probe()
      (probe.name, probe.journal, probe.action, probe.answer) = (name, journal, action, answer)
      return probe
    }
  }

  @discardableResult
  func start(_ policy: FailurePolicy, within limit: Duration? = nil) async throws -> LaunchReport {
    try await start(options: LaunchOptions(onFailure: policy, timeLimit: limit))
  }

  /// Fills and starts Hives, each with a longer limit, until exactly these modules start.
  static func started(
    _ names: [String], _ fill: (_ hive: Hive, _ limit: Duration) async throws -> Void
  ) async throws -> (hive: Hive, report: LaunchReport) {
    let (hive, report) = try await Patience.trying { limit in
      let hive = Hive()
      try await fill(hive, limit)
      return (hive, try await hive.start(.skip, within: limit))
    } until: {
      $0.1.started == names
    }
    #expect(report.started == names)
    return (hive, report)
  }

  /// Registers a probe that acts in one step.
  func probe(
    _ name: String, _ journal: Journal = Journal(), priority: Int = 0, requires: [String] = [],
    isConcurrent: Bool = false, in wanted: String,
    _ action: @escaping @Sendable (Context) async throws -> Void
  ) async throws {
    try await probe(
      name, journal, priority: priority, requires: requires, isConcurrent: isConcurrent
    ) { step, context in
      if step == wanted { try await action(context) }
    }
  }

  /// Registers a probe that fails in one step.
  func probe(
    _ name: String, _ journal: Journal = Journal(), requires: [String] = [], failing step: String
  ) async throws {
    try await probe(name, journal, requires: requires, in: step) { _ in throw Broken() }
  }

  /// Registers a probe that answers events.
  func listener(
    _ name: String, _ journal: Journal = Journal(), _ answer: @escaping Probe.Answer
  ) async throws {
    try await probe(name, journal, answer: answer)
  }
}

/// The step of each module, in order: `"abc".steps("setUp")` is a.setUp, b.setUp, c.setUp.
extension String {
  func steps(_ step: String) -> [String] { map { "\($0).\(step)" } }
}

/// A meeting that lets all tasks go on once enough of them attend.
actor Meeting {
  private let size: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var count = 0

  init(of size: Int) { self.size = size }

  func attend() async {
    count += 1
    if count >= size {
      for continuation in waiting { continuation.resume() }
      waiting = []
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }
}
