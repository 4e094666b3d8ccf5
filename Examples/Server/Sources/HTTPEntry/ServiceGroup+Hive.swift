internal import Adapters
public import BeeHive
public import BeeHiveRouting
public import HTTPTypes
public import Logging
public import ServiceLifecycle
internal import UnixSignals

extension ServiceGroup {
  /// A Hive and a server of its routes, started and ended in the right order by SIGTERM or SIGINT.
  ///
  /// The server listens when every module is started. When the process is to end, the server stops to accept,
  /// answers what it has begun, and only then are the modules torn down.
  ///
  /// - Parameters:
  ///   - hive: The Hive.
  ///   - scheme: The scheme of its URLs.
  ///   - host: The address on which it listens.
  ///   - port: The port on which it listens; the system chooses one if it is 0.
  ///   - limits: How much one client may take, and how long the end may take.
  ///   - methods: The methods that routes and actions answer instead of GET and HEAD, as for ``HTTPEntry``.
  ///   - context: Makes the values that rules may test from a request's header fields, as for ``HTTPEntry``.
  ///   - logger: Is told what the Hive, the server and the group do.
  ///   - onListening: Is told the port.
  public init(
    serving hive: Hive, scheme: String, host: String = "127.0.0.1", port: Int,
    limits: ServerLimits, methods: [String: Set<HTTPRequest.Method>] = [:],
    context: (@Sendable (HTTPFields) -> Arguments)? = nil, logger: Logger,
    onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) {
    let (started, continuation) = AsyncStream.makeStream(of: Void.self)
    let observation = hive.observe { notice in
      if case .started = notice { continuation.finish() }
    }
    let entry = HTTPEntry(
      hive.router, scheme: scheme, host: host, port: port, limits: limits, methods: methods,
      context: context, logger: logger,
      prepare: {
        for await _ in started {}
        observation.cancel()
        // Modules that do not start end the group.
        try Task.checkCancellation()
      }, onListening: onListening)
    // Ended in reverse order, each when the one behind it has ended.
    var configuration = ServiceGroupConfiguration(
      services: [
        .init(service: hive, successTerminationBehavior: .gracefullyShutdownGroup),
        .init(service: entry),
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(limits.endSeconds)
    self.init(configuration: configuration)
  }
}
