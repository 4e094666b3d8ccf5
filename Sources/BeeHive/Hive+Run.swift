internal import Threads

extension Hive {
  /// Starts the modules, waits until the process is to end, and tears them down.
  ///
  /// It ends with a signal that asks for it, when its task is cancelled, and when `stop` is called; during
  /// the start, too. Modules are told `willTerminate` first, except after `stop`. Signals are observed only
  /// here; whatever handled them before does so again afterwards.
  ///
  /// A second SIGTERM, SIGINT or SIGQUIT ends the process at once, with 128 and the signal's number as its
  /// status, whatever modules are still at. Neither that nor `tearDownLimit` needs a free thread of the
  /// concurrency runtime's pool; to return to its caller, it needs one that the caller runs on.
  ///
  /// - Parameters:
  ///   - context: What modules are given; nil for one of this Hive with the defaults.
  ///   - options: How modules are started, the signals to observe, and how long the end may take.
  /// - Returns: Why it ended, and the modules that failed or had not come back.
  /// - Throws: ``LaunchError`` if signals cannot be observed, or if the modules did not start. Nothing runs then.
  @discardableResult
  public func run(
    _ context: Context? = nil, options: RunOptions = RunOptions()
  ) async throws(LaunchError) -> RunReport {
    // Not on the pool: whatever blocks its threads, the limit holds.
    try await withTaskExecutorPreference(ModuleThreads.shared) { () async throws(LaunchError) in
      try await runBesidePool(context, options)
    }
  }

  private func runBesidePool(
    _ context: Context?, _ options: RunOptions
  ) async throws(LaunchError) -> RunReport {
    let ending = Race<Result<RunReport.Cause, LaunchError>>()
    let isAskedToEnd = Lock(false)
    let (notices, mailbox) = AsyncStream.makeStream(of: SystemWatch.Notice.self)
    let watch = try SystemWatch(options.signals, options.memoryPressure) { notice in
      // Seen to at once, even if modules are still busy with what came before.
      if case .signal(let signal) = notice, signal.isTerminating {
        if isAskedToEnd.withLock({ exchange(&$0, with: true) }) { options.endProcess(signal) }
        ending.finish(.success(.signal(signal)))
      }
      mailbox.yield(notice)
    }
    defer { watch.end() }
    observers.tell(.memoryPressure("\(watch.memoryPressure)"))
    let reader = Task(executorPreference: ModuleThreads.shared) {
      for await notice in notices { await self.react(to: notice, options) }
    }
    defer { mailbox.finish() }

    let launch = Lock<LaunchReport?>(nil)
    let starter = Task(executorPreference: ModuleThreads.shared) {
      do throws(LaunchError) {
        let report = try await self.start(context, options: options.launch)
        launch.withLock { $0 = report }
        await self.runner.untilIdle()
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
    let cause: RunReport.Cause
    do throws(LaunchError) { cause = try end.get() } catch {
      reader.cancel()
      throw error
    }
    // A task of its own, since that of the caller may be cancelled.
    let failures = await Task(executorPreference: ModuleThreads.shared) {
      await TimeLimit.run(options.tearDownLimit) {
        if cause != .stopped { await self.trigger(.willTerminate) }
        // A start that is still under way, or has not even begun, ends here.
        starter.cancel()
        return await self.stop()
      }
    }.value
    reader.cancel()
    var report = RunReport(
      cause: cause, launch: launch.withLock { $0 }, memoryPressure: watch.memoryPressure,
      failures: [], isComplete: false)
    // A module that did not come back from its start hangs though the others are down.
    (report.failures, report.hanging) = runner.states.withLock { ($0.stopFailures, $0.hanging) }
    if case .success(let failures) = failures {
      (report.failures, report.isComplete) = (failures, report.hanging.isEmpty)
    }
    return report
  }

  private func react(to notice: SystemWatch.Notice, _ options: RunOptions) async {
    switch notice {
    case .memoryIsShort: await trigger(.didReceiveMemoryWarning)
    case .signal(let signal):
      observers.tell(.signalArrived(signal))
      if signal.isTerminating { return }
      for event in signal.events { await trigger(event) }
      if signal == .suspend { options.suspendProcess() }
    }
  }
}
