internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Refuses what is no request of HTTP/1.0 or 1.1 to this server, and ends its connection.
///
/// Here is what can be said only of a head as it was sent: how many Host fields it has, its version, and the
/// form of its target. What routes and forms ask for is refused in ``Answering``.
final class MalformedRequests: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The rest of a request will not come.
  private struct IsIncomplete: Error {}

  private let logger: Logger
  private var isWithinRequest = false
  private var hasRefused = false

  init(_ logger: Logger) { self.logger = logger }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if hasRefused { return }
    switch unwrapInboundIn(data) {
    case .head(var head):
      if let problem = Self.problem(of: head) {
        return refuse(
          problem, hasBody: head.method != .HEAD, context, because: problem.detail)
      }
      isWithinRequest = true
      // HTTP/1.0 has no interim answers.
      if head.version == .http1_0 { head.headers.remove(name: "expect") }
      return context.fireChannelRead(wrapInboundOut(.head(head)))
    case .body: break
    case .end: isWithinRequest = false
    }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if hasRefused { return }
    let problem: Problem
    switch error {
    case HTTPParserError.headerOverflow:
      problem = Problem(
        .requestHeaderFieldsTooLarge, "head-too-long", "The head is longer than is read.")
    case is HTTPParserError:
      problem = Problem(.badRequest, "malformed-request", "This is no request of HTTP/1.1.")
    case is RequestIsCut:
      problem = Problem(
        .badRequest, "malformed-request", "The body is shorter than the head says.")
    case is BodyIsLate:
      problem = Problem(.requestTimeout, "timeout", "The body did not arrive in time.")
    default: return context.fireErrorCaught(error)
    }
    // First of all: once the connection is closed, half a form would be taken for all of it.
    if isWithinRequest { context.fireErrorCaught(IsIncomplete()) }
    refuse(problem, context, because: "\(error)")
  }

  private func refuse(
    _ problem: Problem, hasBody: Bool = true, _ context: ChannelHandlerContext,
    because reason: String
  ) {
    hasRefused = true
    let id = RequestID().description
    problem.log(to: logger, id: id, because: reason)
    var headers: HTTPHeaders = ["connection": "close"]
    for field in problem.fields(id: id) {
      headers.add(name: field.name.rawName, value: field.value)
    }
    headers.add(name: "content-length", value: "\(problem.body.count)")
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: problem.status.code),
      headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if hasBody {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: problem.body)))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  private static func problem(of head: HTTPRequestHead) -> Problem? {
    if head.version.major != 1 {
      return Problem(.httpVersionNotSupported, "malformed-request", "Use HTTP/1.1.")
    }
    let hosts = head.headers["host"].count
    if hosts > 1 || hosts == 0 && head.version != .http1_0 {
      return Problem(
        .badRequest, "malformed-request", "A request has one Host field; this one has \(hosts).")
    }
    // `//book/7` is read as the host `book` by those who read URLs; `http://…` is what proxies are asked.
    if !head.uri.hasPrefix("/") || head.uri.hasPrefix("//") {
      return Problem(
        .badRequest, "malformed-url", "The target has to be a path that begins with one slash.")
    }
    return nil
  }
}
