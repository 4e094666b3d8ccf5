internal import NIOCore
internal import NIOHTTP1

/// The client ended its side, or the connection, within a request.
struct RequestIsCut: Error {}

/// Decides after each answer whether its connection is kept, says so in the answer, and closes it otherwise.
///
/// HTTP/1.1 keeps a connection unless the client asks to close it; HTTP/1.0 closes it unless the client asks to keep
/// it. After an answer that came before all of its request the connection is closed too. The next request is read when
/// the client has taken the answer. Closing ends this side and reads on until the client ends its own. Otherwise a
/// client that is still sending would lose the answer.
final class Exchange: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private var version = HTTPVersion.http1_1
  private var isKept = true
  private var isRead = true
  private var isAnswered = false
  /// Completes when the system has taken all that is written so far.
  private var taken: EventLoopFuture<Void>?
  /// Whether the connection is closing. Then nothing more is read or written.
  private var isClosing = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosing { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      (version, isKept) = (head.version, head.isKeepAlive)
      (isRead, isAnswered) = (false, false)
      context.triggerUserOutboundEvent(Phase.body, promise: nil)
    case .body: break
    case .end:
      isRead = true
      if !isAnswered { context.triggerUserOutboundEvent(Phase.answer, promise: nil) }
    }
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { cut(context) }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    cut(context)
    context.fireChannelInactive()
  }

  /// Reports a cut request. Call it before the end of the input goes on: that would pass for the request's end.
  private func cut(_ context: ChannelHandlerContext) {
    if !isRead, !isClosing { context.fireErrorCaught(RequestIsCut()) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !isClosing { context.fireErrorCaught(error) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // An answer to a request that was refused meanwhile.
    if isClosing {
      promise?.succeed()
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(var head) where head.status.code >= 200:
      isAnswered = true
      context.triggerUserOutboundEvent(Phase.send, promise: nil)
      isKept = isKept && isRead && head.isKeepAlive
      if !isKept {
        head.headers.replaceOrAdd(name: "connection", value: "close")
      } else if version == .http1_0 {
        head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
      }
      write(.head(head), context, promise)
    case .end:
      isClosing = !isKept
      context.flush()
      whenTaken { [self] in
        // First, because writing the end delivers a request that has arrived meanwhile.
        context.triggerUserOutboundEvent(isKept ? Phase.idle : .close, promise: nil)
        context.writeAndFlush(data, promise: promise)
        if isClosing { context.close(mode: .output, promise: nil) }
      }
    case .head(let head): write(.head(head), context, promise)
    case .body(let body): write(.body(body), context, promise)
    }
  }

  private func write(
    _ part: OutboundOut, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    let promise = promise ?? context.eventLoop.makePromise()
    taken = promise.futureResult
    context.write(wrapOutboundOut(part), promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output else { return context.close(mode: mode, promise: promise) }
    whenTaken { context.close(mode: mode, promise: promise) }
  }

  /// Runs `body` when the system has taken all that is written so far, or the connection is closed.
  private func whenTaken(_ body: @escaping () -> Void) {
    guard let taken else { return body() }
    taken.assumeIsolated().whenComplete { _ in body() }
  }
}
