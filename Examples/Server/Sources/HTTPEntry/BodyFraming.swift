internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// The chunks of a body take more bytes than the limit.
struct BodyIsTooLong: Error {}

/// Refuses a body that takes many more bytes than its content.
///
/// Chunks of a body may have extensions of any length, and NIO's parser skips them. ``Exchange`` says when a body
/// begins and ends. Bytes that arrive together with the head or the end of a request do not count, because they may
/// belong to other requests.
final class BodyFraming: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData

  private let most: Int
  private var count = 0
  private var isWithinBody = false

  init(_ limits: ServerLimits) {
    // A chunk of one byte takes six. The fields after the last chunk may take as much as a head.
    most = 6 * limits.bodyBytes + limits.headBytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let (bytes, wasWithinBody) = (unwrapInboundIn(data).readableBytes, isWithinBody)
    context.fireChannelRead(data)
    guard wasWithinBody, isWithinBody else { return }
    count += bytes
    if count > most { context.fireErrorCaught(BodyIsTooLong()) }
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    if let phase = event as? Phase { (isWithinBody, count) = (phase == .body, 0) }
    context.triggerUserOutboundEvent(event, promise: promise)
  }
}

extension Problem {
  /// Returns the problem with a head that does not say for certain where its body ends (RFC 9112, 6.3).
  ///
  /// NIO's parser refuses the rest: `Content-Length` given twice, together with `Transfer-Encoding`, or no number.
  static func ofFraming(_ head: HTTPRequestHead) -> Problem? {
    func malformed(_ detail: String) -> Problem {
      Problem(.badRequest, "malformed-request", detail)
    }
    let codings = head.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
    if head.headers.contains(name: "transfer-encoding") {
      if head.version == .http1_0 { return malformed("HTTP/1.0 has no Transfer-Encoding.") }
      if codings.firstIndex(of: "chunked") != codings.count - 1 {
        return malformed("The last coding of Transfer-Encoding, and no other, has to be chunked.")
      }
      if codings.count > 1 {
        return Problem(
          .notImplemented, "unknown-coding", "The one coding that is read here is chunked.")
      }
    }
    // The parser takes numbers of 64 bits.
    for length in head.headers[canonicalForm: "content-length"] where Int(length) == nil {
      return malformed("Content-Length is larger than any body.")
    }
    return nil
  }
}
