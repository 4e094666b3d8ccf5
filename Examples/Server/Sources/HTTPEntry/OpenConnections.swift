internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Counts the connections that are served, and decides which one is too many.
final class OpenConnections: Sendable {
  /// The most refused connections that are open at a time. Further ones wait in the system's queue.
  static let refused = 64

  private let limit: Int
  private let count = Mutex(0)

  init(atMost limit: Int) { self.limit = limit }

  /// Counts a connection until it is closed.
  ///
  /// - Returns: true if it is served, false if there are too many.
  func admit(_ channel: any Channel) -> Bool {
    let isAdmitted = count.withLock { count in
      let isAdmitted = count < limit
      if isAdmitted { count += 1 }
      return isAdmitted
    }
    if isAdmitted {
      channel.closeFuture.whenComplete { [self] _ in count.withLock { $0 -= 1 } }
    }
    return isAdmitted
  }
}

/// Tells a client that there are too many connections, before it asks anything, and ends this one.
final class ConnectionRefusal: ChannelInboundHandler {
  typealias InboundIn = Never
  typealias OutboundOut = HTTPServerResponsePart

  private let retrySeconds: Int
  private let logger: Logger

  init(retryingAfter retrySeconds: Int, _ logger: Logger) {
    (self.retrySeconds, self.logger) = (retrySeconds, logger)
  }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    let problem = Problem.tooManyConnections(retryingAfter: retrySeconds)
    for part in problem.lastAnswer(logger: logger, because: problem.detail) {
      context.write(wrapOutboundOut(part), promise: nil)
    }
    context.flush()
  }
}
