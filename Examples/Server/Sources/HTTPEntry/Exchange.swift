internal import NIOCore
internal import NIOHTTP1

/// The client ended its side, or the connection, within a request.
struct RequestIsCut: Error {}

/// Decides after each answer whether its connection is kept, says so in the answer, and closes it otherwise.
///
/// HTTP/1.1 keeps a connection unless the client asks to close it; HTTP/1.0 closes it unless the client
/// asks to keep it. After an answer that came before all of its request the connection is closed too. To
/// close is to end this side and to read on until the client ends its own: a client that is still sending
/// would lose the answer otherwise.
final class Exchange: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private var version = HTTPVersion.http1_1
  private var isKept = true
  private var isRead = true
  /// After this nothing is read and nothing is written.
  private var isClosing = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosing { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      (version, isKept, isRead) = (head.version, head.isKeepAlive, false)
      context.triggerUserOutboundEvent(Phase.body, promise: nil)
    case .body: break
    case .end:
      isRead = true
      context.triggerUserOutboundEvent(Phase.answer, promise: nil)
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

  /// Before the end of the input is told: it would be taken for the end of the request.
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
      isKept = isKept && isRead && head.isKeepAlive
      if !isKept {
        head.headers.replaceOrAdd(name: "connection", value: "close")
      } else if version == .http1_0 {
        head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
      }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end where isKept:
      // Before the end is written: a request that has arrived meanwhile is read while it is.
      context.triggerUserOutboundEvent(Phase.idle, promise: nil)
      context.write(data, promise: promise)
    case .end:
      isClosing = true
      context.triggerUserOutboundEvent(Phase.close, promise: nil)
      context.writeAndFlush(data, promise: promise)
      context.close(mode: .output, promise: nil)
    case .head, .body: context.write(data, promise: promise)
    }
  }
}
