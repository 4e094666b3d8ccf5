internal import BeeHive
internal import Glibc

extension Host {
  /// What a Hive does while it runs.
  static let runSteps: [(String, Step)] = [
    // Runs until a signal ends it: run=TERM,TSTP,CONT. Says every step and event of a Swift module,
    // and how it ended.
    (
      "run",
      { _, names in
        var signals: Set<Signal> = []
        for name in names.split(separator: ",") {
          guard let signal = signalNames[String(name)] else {
            throw StepFailure("no such signal: \(name)")
          }
          signals.insert(signal)
        }
        let options = RunOptions(signals: signals, memoryPressure: .none)
        let answer = waiting {
          try await Hive.process.register(module: Narrator.self, name: "narrator", priority: -1)
          let report = try await Hive.process.run(options: options)
          return "ended by \(report.cause), complete: \(report.isComplete)"
        }
        print(answer)
      }
    ),
    // Starts whatever can, and says what came of it.
    (
      "start",
      { _, _ in
        print(
          waiting {
            try await Hive.process.start(options: LaunchOptions(onFailure: .continue)).description
          })
      }
    ),
  ]

  private static let signalNames: [String: Signal] = [
    "TERM": .terminate, "INT": .interrupt, "HUP": .hangUp, "TSTP": .suspend, "CONT": .resume,
  ]
}

/// Says what it is told, at once.
private struct Narrator: Module {
  init() {}

  func setUp(_ context: Context) async throws { say("setUp") }
  func splash(_ context: Context) async throws { say("splash") }
  func tearDown(_ context: Context) async throws { say("tearDown") }
  func unmount(_ context: Context) async throws { say("unmount") }

  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    say(event.name)
    return .handled
  }

  private func say(_ text: String) {
    print("narrator \(text)")
    fflush(nil)
  }
}
