internal import Foundation
internal import NIOCore

/// The event that a connection waits for. ``Exchange`` sets it; ``Deadlines`` limits the wait.
enum Phase: Sendable {
  /// A request.
  case idle
  /// The rest of a head.
  case head
  /// The rest of a body.
  case body
  /// The answer, which takes as long as its handler does.
  case answer
  /// The client, to take the answer.
  case send
  /// The client, to close its side.
  case close
}

/// The body of a request did not arrive in time.
struct BodyIsLate: Error {}

/// Ends a connection whose client is slower than the limits allow.
///
/// It is the first handler of a connection, because the first byte of a head is no part of a request yet. No byte
/// prolongs a deadline: a head and a body have to be complete in time.
final class Deadlines: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData

  private let limits: ServerLimits
  private var phase = Phase.head
  private var timer: Scheduled<Void>?

  init(_ limits: ServerLimits) { self.limits = limits }

  func channelActive(context: ChannelHandlerContext) {
    enter(.head, context)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if phase == .idle { enter(.head, context) }
    context.fireChannelRead(data)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let phase = event as? Phase else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    enter(phase, context)
    promise?.succeed()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    timer = nil
    context.fireChannelInactive()
  }

  private func enter(_ phase: Phase, _ context: ChannelHandlerContext) {
    self.phase = phase
    timer?.cancel()
    guard context.channel.isActive else { return }
    timer = seconds(in: phase).map { seconds in
      context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) { [self] in
        timer = nil
        switch phase {
        case .body: return context.fireErrorCaught(BodyIsLate())
        case .send:
          // The system would keep the rest for a client that does not read.
          let socket = context.channel as? any SocketOptionProvider
          _ = socket?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        case .idle, .head, .answer, .close: break
        }
        context.close(promise: nil)
      }
    }
  }

  private func seconds(in phase: Phase) -> Int? {
    switch phase {
    case .idle: limits.idleSeconds
    case .head: limits.headSeconds
    case .body: limits.bodySeconds
    case .answer: nil
    case .send: limits.sendSeconds
    case .close: limits.closeSeconds
    }
  }
}
