public import BeeHiveRouting
public import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
public import ServiceLifecycle

/// Opens the URLs of HTTP requests as calls from outside: `GET /book/7?from=mail` is `app://book/7?from=mail`.
///
/// Answers are JSON, refusals are `application/problem+json`. A body is a form, whose fields count as the query's.
/// Graceful shutdown closes the listener and the idle connections. `run` ends when the requests that have arrived are
/// answered.
public struct HTTPEntry: Service {
  private let router: BeeHiveRouting.Router
  private let scheme: String
  private let address: BindAddress
  private let limits: ServerLimits
  private let methods: Methods
  private let context: (@Sendable (HTTPFields) -> Arguments)?
  private let logger: Logger
  private let prepare: @Sendable () async throws -> Void
  private let onListening: @Sendable (_ port: Int) async -> Void

  /// Describes a server; `run` starts it.
  ///
  /// - Parameters:
  ///   - router: The router. Only routes and actions that are marked remote answer.
  ///   - scheme: The scheme of its URLs.
  ///   - host: The address to listen on.
  ///   - port: The port to listen on; the system chooses one if it is 0.
  ///   - limits: The limits of each client.
  ///   - methods: The methods that routes and actions answer instead of GET and HEAD, by the pattern that registered
  ///     the route, or by the action: `["app://order/:id": [.post], "books.price": [.get, .post]]`. A name that nothing
  ///     remote has is a warning in the log.
  ///   - context: Makes the values that rules may test by `context` from a request's header fields, for its calls. It
  ///     replaces the router's own context while the server runs. Without it, rules know no fields.
  ///   - logger: Gets the reason of each refusal, with the number that the client has as `X-Request-ID`.
  ///   - prepare: Runs before the server listens.
  ///   - onListening: Receives the port.
  public init(
    _ router: BeeHiveRouting.Router, scheme: String, host: String = "127.0.0.1", port: Int = 0,
    limits: ServerLimits = ServerLimits(), methods: [String: Set<HTTPRequest.Method>] = [:],
    context: (@Sendable (HTTPFields) -> Arguments)? = nil, logger: Logger,
    prepare: @escaping @Sendable () async throws -> Void = {},
    onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) {
    (self.router, self.scheme, self.limits, self.logger) = (router, scheme, limits, logger)
    (self.methods, self.context) = (Methods(methods), context)
    (self.prepare, self.onListening) = (prepare, onListening)
    address = .hostname(host, port: port)
  }

  /// Answers until graceful shutdown, or until the task is cancelled.
  public func run() async throws {
    var handles = [ClientCall.observe(router), methods.guardCalls(of: router)]
    if context != nil {
      handles.append(router.calls.context { _ in ClientCall.current?.context ?? [:] })
    }
    defer { for handle in handles { handle.cancel() } }
    var application = Application(
      responder: Answering(
        router: router, scheme: scheme, limits: limits, context: context ?? { _ in [:] }),
      server: HTTPServerBuilder { [limits] in Connections(responder: $0, limits: limits) },
      configuration: ApplicationConfiguration(
        address: address, backlog: 1024,
        availableConnectionsDelegate: .maximum(
          limits.connections + OpenConnections.refused, logger: logger)),
      onServerRunning: { [onListening] listener in
        // One at a time, because the limit is checked only before each read.
        try? await listener.setOption(.maxMessagesPerRead, value: 1).get()
        await onListening(listener.localAddress?.port ?? 0)
      }, logger: logger)
    application.beforeServerStarts {
      try await prepare()
      for warning in methods.warnings(about: router) { logger.warning("\(warning)") }
    }
    try await application.run()
  }
}
