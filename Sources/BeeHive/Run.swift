internal import LibC
internal import Threads

/// The options of `Hive.run`.
public struct RunOptions: Sendable {
  /// The options of the start.
  package var launch: LaunchOptions
  /// The signals to observe: SIGTERM and SIGINT by default; empty if another runner owns them.
  package var signals: Set<Signal>
  /// The time that willTerminate and the tear-down may take together; nil for no limit. Holds also if modules block the
  /// threads that they run on.
  package var tearDownLimit: Duration?
  /// The source of notices that memory is short.
  package var memoryPressure: MemoryPressure
  /// Stops the process once modules know of SIGTSTP, as the signal would have done by itself.
  var suspendProcess: @Sendable () -> Void = { kill(getpid(), SIGSTOP) }
  /// Ends the process when the second signal asks for it, with the status that shells give.
  var endProcess: @Sendable (Signal) -> Void = { _exit(128 + $0.rawValue) }

  /// Observes SIGTERM, SIGINT and memory pressure, and gives the modules 25 seconds to end.
  ///
  /// Container hosts commonly kill a process 30 seconds after SIGTERM.
  ///
  /// - Parameters:
  ///   - launch: The options of the start.
  ///   - signals: The signals to observe; `[]` if another runner owns them.
  ///   - tearDownLimit: The time that willTerminate and the tear-down may take together; nil for no limit.
  ///   - memoryPressure: The source of notices that memory is short.
  public init(
    launch: LaunchOptions = LaunchOptions(), signals: Set<Signal> = [.terminate, .interrupt],
    tearDownLimit: Duration? = .seconds(25), memoryPressure: MemoryPressure = .automatic
  ) {
    self.launch = launch
    self.signals = signals
    self.tearDownLimit = tearDownLimit
    self.memoryPressure = memoryPressure
  }
}

/// The outcome of a run.
public struct RunReport: Sendable {
  /// The reason that a run ended.
  public enum Cause: Hashable, Sendable {
    /// A signal asked for it.
    case signal(Signal)
    /// The task of the run was cancelled.
    case cancelled
    /// Somebody called `stop`.
    case stopped
  }

  /// The reason that the run ended.
  public var cause: Cause
  /// The report of the start; nil if the run ended before the start was over.
  public var launch: LaunchReport?
  /// The source of notices of memory pressure, or the reason that there is none: one sentence.
  package var memoryPressure: String
  /// The modules that failed to be torn down.
  public var failures: [ModuleFailure]
  /// Whether every module has come back and was torn down within the limit.
  public var isComplete: Bool
  /// The modules that had not come back when the limit passed, and the step or event that each is in.
  public var hanging: [(module: String, event: String, elapsed: Duration)] = []
}

extension RunReport: CustomStringConvertible {
  /// `ended by SIGTERM; every module was torn down`, then one line for each module that was not, with the reason.
  public var description: String {
    let end =
      switch cause {
      case .signal(let signal): "ended by \(signal)"
      case .cancelled: "cancelled"
      case .stopped: "stopped"
      }
    let result = isComplete ? "every module was torn down" : "not torn down within the limit"
    return (["\(end); \(result)"] + hanging.map(ModuleStep.delay) + failures.map(\.description))
      .joined(separator: "\n")
  }
}

extension ModuleRunner {
  /// Starts the modules of a Hive, waits until the process is to end, and tears them down.
  nonisolated func run(
    _ hive: Hive, _ context: Context?, _ options: RunOptions
  ) async throws(LaunchError) -> RunReport {
    ForkedChild.watch()
    let ending = Race<Result<RunReport.Cause, LaunchError>>()
    let isAskedToEnd = Lock(false)
    let (reactions, mailbox) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
    let watch = try SystemWatch(options.signals, options.memoryPressure) { signal in
      // Handled at once, even if modules are still busy with earlier events.
      if signal.isTerminating {
        if isAskedToEnd.withLock({ exchange(&$0, with: true) }) { options.endProcess(signal) }
        ending.finish(.success(.signal(signal)))
      }
      mailbox.yield { await self.react(to: signal, in: hive, options) }
    } memoryIsShort: {
      mailbox.yield { await hive.trigger(.didReceiveMemoryWarning) }
    }
    defer { watch.end() }
    hive.observers.tell(.memoryPressure(watch.memoryPressure))
    let reader = Task(executorPreference: ModuleThreads.shared) {
      for await react in reactions { await react() }
    }
    defer { reader.cancel() }

    let launch = Lock<LaunchReport?>(nil)
    let starter = Task(executorPreference: ModuleThreads.shared) {
      do throws(LaunchError) {
        let report = try await self.start(context, options.launch, of: hive, isRun: true)
        launch.withLock { $0 = report }
        await self.until { $0.phase == .idle }
        ending.finish(.success(.stopped))
      } catch {
        ending.finish(error.interruption == .stopped ? .success(.stopped) : .failure(error))
      }
    }
    let end = await withTaskCancellationHandler {
      await ending.value
    } onCancel: {
      ending.finish(.success(.cancelled))
    }
    let cause = try end.get()
    // A task of its own, because the caller's task may be cancelled.
    let failures = await Task(executorPreference: ModuleThreads.shared) {
      await TimeLimit.run(options.tearDownLimit) {
        if cause != .stopped { await hive.trigger(.willTerminate) }
        // A start that is still under way, or has not even begun, ends here.
        starter.cancel()
        return await self.stop(hive, ofRun: true)
      }
    }.value
    var report = RunReport(
      cause: cause, launch: launch.withLock { $0 }, memoryPressure: watch.memoryPressure,
      failures: [], isComplete: false)
    // A module that did not come back from its start hangs although the others are down.
    (report.failures, report.hanging) = states.withLock { ($0.stopFailures, $0.hanging()) }
    if case .success(let failures) = failures {
      (report.failures, report.isComplete) = (failures, report.hanging.isEmpty)
    }
    return report
  }

  /// Tells observers of a signal, and triggers its events unless it ends the process.
  private nonisolated func react(to signal: Signal, in hive: Hive, _ options: RunOptions) async {
    hive.observers.tell(.signalArrived(signal))
    if signal.isTerminating { return }
    for event in signal.events { await hive.trigger(event) }
    if signal == .suspend { options.suspendProcess() }
  }
}
