import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPEntry

@Suite("Deadlines are exact")
struct DeadlinesTests {
  @Test(
    "A limit of one second is one second, in every phase but that of the handler",
    arguments: [Phase.idle, .head, .send, .close, .answer])
  func exact(_ phase: Phase) throws {
    var limits = ServerLimits()
    (limits.headSeconds, limits.bodySeconds, limits.sendSeconds) = (1, 1, 1)
    (limits.idleSeconds, limits.closeSeconds) = (1, 1)
    let loop = EmbeddedEventLoop()
    let channel = EmbeddedChannel(handler: Deadlines(limits), loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    loop.advanceTime(by: .milliseconds(500))
    try channel.triggerUserOutboundEvent(phase).wait()
    loop.advanceTime(by: .milliseconds(999))
    #expect(channel.isActive)
    loop.advanceTime(by: .milliseconds(1))
    #expect(channel.isActive == (phase == .answer))
  }

  @Test("Bytes that come in time prolong neither a head nor a body")
  func dripping() throws {
    var limits = ServerLimits()
    (limits.headSeconds, limits.idleSeconds) = (1, 2)
    let loop = EmbeddedEventLoop()
    let channel = EmbeddedChannel(handler: Deadlines(limits), loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.triggerUserOutboundEvent(Phase.idle).wait()
    loop.advanceTime(by: .milliseconds(1900))
    for _ in 1...9 {
      try channel.writeInbound(ByteBuffer(string: "x"))
      loop.advanceTime(by: .milliseconds(100))
    }
    #expect(channel.isActive)
    loop.advanceTime(by: .milliseconds(100))
    #expect(!channel.isActive)
  }
}
