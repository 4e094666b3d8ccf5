internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// The handlers of a connection, in their order: they turn bytes into requests, and answers into bytes.
///
/// Hummingbird's own HTTP1Channel would turn requests into values before any other handler sees them. These values have
/// neither the version nor the number of Host fields.
struct Connections: HTTPChannelHandler {
  let responder: Responder
  let limits: ServerLimits
  private let open: OpenConnections

  init(responder: @escaping Responder, limits: ServerLimits) {
    (self.responder, self.limits) = (responder, limits)
    open = OpenConnections(atMost: limits.connections)
  }

  func setup(
    channel: any Channel, logger: Logger
  ) -> EventLoopFuture<NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(Deadlines(limits))
      guard open.admit(channel) else {
        try pipeline.addHandler(HTTPResponseEncoder(configuration: .init()))
        try pipeline.addHandler(Exchange())
        try pipeline.addHandler(ConnectionRefusal(retryingAfter: limits.headSeconds, logger))
        return try Self.asynchronous(channel)
      }
      try pipeline.addHandler(BodyFraming(limits))
      var decoding = NIOHTTPDecoderLimitConfiguration()
      decoding.maxHeaderFieldSize = limits.headBytes
      decoding.maxHeaderListSize = limits.headBytes
      // One request at a time. If the server is ending, the current request is the last.
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: true, withErrorHandling: false,
        withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
        withDecoderLimitConfiguration: decoding)
      try pipeline.addHandler(Exchange())
      try pipeline.addHandler(MalformedRequests(logger))
      try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
      return try Self.asynchronous(channel)
    }
  }

  private static func asynchronous(
    _ channel: any Channel
  ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
    try NIOAsyncChannel(
      wrappingChannelSynchronously: channel,
      configuration: .init(isOutboundHalfClosureEnabled: true))
  }

  func handle(
    value: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>, logger: Logger
  ) async {
    await handleHTTP(asyncChannel: value, logger: logger)
  }
}
