internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Refuses anything but requests of HTTP/1.0 or 1.1 to this server, and ends its connection.
///
/// It checks what only a head as sent shows: the number of Host fields, the version, the form of the target, and the
/// framing of the body. ``Answering`` refuses for reasons of routes and forms.
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
    case is BodyIsTooLong:
      problem = Problem(
        .contentTooLarge, "body-too-long", "The chunks of the body are longer than is read.")
    case is BodyIsLate:
      problem = Problem(.requestTimeout, "timeout", "The body did not arrive in time.")
    default: return context.fireErrorCaught(error)
    }
    // First of all: once the connection is closed, half a form would pass for a whole one.
    if isWithinRequest { context.fireErrorCaught(IsIncomplete()) }
    refuse(problem, context, because: "\(error)")
  }

  private func refuse(
    _ problem: Problem, hasBody: Bool = true, _ context: ChannelHandlerContext,
    because reason: String
  ) {
    hasRefused = true
    for part in problem.lastAnswer(hasBody: hasBody, logger: logger, because: reason) {
      context.write(wrapOutboundOut(part), promise: nil)
    }
    context.flush()
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
    // URL parsers read `//book/7` as the host `book`. Targets like `http://…` are for proxies.
    if !head.uri.hasPrefix("/") || head.uri.hasPrefix("//") {
      return Problem(
        .badRequest, "malformed-url", "The target has to be a path that begins with one slash.")
    }
    return Problem.ofFraming(head)
  }
}
