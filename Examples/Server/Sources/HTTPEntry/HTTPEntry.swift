public import BeeHiveRouting
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Opens what HTTP clients ask for, as calls from outside: `GET /book/7?from=mail` is `app://book/7?from=mail`.
///
/// Answers are JSON, and so are refusals: `{"error": "not-remote", "reason": "…"}`. The body of a POST is a
/// form, whose fields count as the query's.
public struct HTTPEntry: Sendable {
  /// The port on which it listens.
  public let port: Int
  private let listener: Listener
  private let router: Router
  private let scheme: String

  private typealias Connection = NIOAsyncChannel<NIOHTTPServerRequestFull, HTTPServerResponsePart>
  private typealias Listener = NIOAsyncChannel<Connection, Never>

  /// A form that is longer is refused while it arrives.
  private static let mostBytesOfBody = 4096

  /// Listens; nobody is answered before `run`. With port 0 the system chooses one.
  public init(
    _ router: Router, scheme: String, host: String = "127.0.0.1", port: Int = 0
  ) async throws {
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .bind(host: host, port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          // What is no HTTP is answered with 400, what is too long with 413, and closed.
          try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
          try pipeline.addHandler(
            NIOHTTPServerRequestAggregator(maxContentLength: Self.mostBytesOfBody))
          return try Connection(wrappingChannelSynchronously: channel)
        }
      }
    self.port = listener.channel.localAddress?.port ?? port
    (self.router, self.scheme) = (router, scheme)
  }

  /// Answers until the task is cancelled.
  public func run() async throws {
    do {
      try await listener.executeThenClose { connections in
        try await withThrowingDiscardingTaskGroup { group in
          for try await connection in connections {
            // A client that breaks its connection harms itself alone.
            group.addTask { try? await serve(connection) }
          }
        }
      }
    } catch is CancellationError {
      // The listener is closed, which is what was asked for.
    }
  }

  private func serve(_ connection: Connection) async throws {
    try await connection.executeThenClose { requests, responses in
      for try await request in requests {
        let answer = await answer(to: request)
        var head = HTTPResponseHead(version: request.head.version, status: answer.status)
        head.headers.add(name: "content-length", value: "\(answer.body.count)")
        if !answer.body.isEmpty {
          head.headers.add(name: "content-type", value: "application/json")
        }
        if !request.head.isKeepAlive { head.headers.add(name: "connection", value: "close") }
        try await responses.write(.head(head))
        try await responses.write(.body(.byteBuffer(ByteBuffer(bytes: answer.body))))
        try await responses.write(.end(nil))
        if !request.head.isKeepAlive { return }
      }
    }
  }

  private func answer(to request: NIOHTTPServerRequestFull) async -> HTTPAnswer {
    // Not `http://somewhere/`, as proxies are asked, nor `*`.
    guard request.head.uri.hasPrefix("/") else {
      return HTTPAnswer(.badRequest, reason: "the target has to begin with a slash")
    }
    var url = "\(scheme):/\(request.head.uri)"
    switch request.head.method {
    case .GET: break
    case .POST:
      if let form = request.body.map({ String(buffer: $0) }), !form.isEmpty {
        url += (url.contains("?") ? "&" : "?") + form
      }
    default: return HTTPAnswer(.methodNotAllowed, reason: "GET or POST, please")
    }
    do { return HTTPAnswer(try await router.open(url, origin: .remote)) } catch {
      return HTTPAnswer(error)
    }
  }
}
