internal import Adapters
public import BeeHive
public import BeeHiveRouting
public import HTTPTypes
public import Logging
public import ServiceLifecycle
internal import UnixSignals

extension ServiceGroup {
  /// Makes a group of a Hive and a server of its routes. SIGTERM and SIGINT end both in the right order.
  ///
  /// The server listens when every module is started. At the end it stops accepting and answers the requests that it
  /// has begun. Only then are the modules torn down.
  ///
  /// - Parameters:
  ///   - hive: The Hive.
  ///   - scheme: The scheme of its URLs.
  ///   - host: The address to listen on.
  ///   - port: The port to listen on; the system chooses one if it is 0.
  ///   - limits: The limits of each client, and of the time to end.
  ///   - methods: The methods that routes and actions answer instead of GET and HEAD, as for ``HTTPEntry``.
  ///   - context: Makes the values that rules may test from a request's header fields, as for ``HTTPEntry``.
  ///   - logger: Logs the actions of the Hive, the server and the group.
  ///   - onListening: Receives the port.
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
    // They end in reverse order, each when the one after it has ended.
    var configuration = ServiceGroupConfiguration(
      services: [
        .init(service: hive, successTerminationBehavior: .gracefullyShutdownGroup),
        .init(service: entry),
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(limits.endSeconds)
    self.init(configuration: configuration)
  }
}
