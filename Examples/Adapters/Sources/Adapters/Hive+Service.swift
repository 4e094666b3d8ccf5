public import BeeHive
public import ServiceLifecycle

/// A Hive is a service: the group that runs it owns the signals, and ends it by graceful shutdown.
extension Hive: @retroactive Service {
  /// Starts the modules, waits for graceful shutdown or cancellation, and tears them down.
  public func run() async throws {
    _ = try await cancelWhenGracefulShutdown {
      try await self.run(options: RunOptions(signals: []))
    }
  }
}
