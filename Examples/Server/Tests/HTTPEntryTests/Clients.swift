import BeeHiveRouting
import Foundation
import HTTPEntry
import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Runs a server on loopback while `body` runs with its port. The server ends gracefully.
func serving(
  _ router: Router, _ limits: ServerLimits = .patient,
  methods: [String: Set<HTTPRequest.Method>] = Shop.methods,
  context: (@Sendable (HTTPFields) -> Arguments)? = nil, logger: Logger = .silent,
  _ body: (_ port: Int) async throws -> Void
) async throws {
  let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
  let entry = HTTPEntry(
    router, scheme: "app", limits: limits, methods: methods, context: context, logger: logger,
    onListening: { continuation.yield($0) })
  let group = ServiceGroup(services: [entry], logger: logger)
  let run = Task {
    defer { continuation.finish() }
    try await group.run()
  }
  var outcome = Result<Void, any Error>.success(())
  for await port in ports {
    do { try await body(port) } catch { outcome = .failure(error) }
    break
  }
  await group.triggerGracefulShutdown()
  try await run.value
  try outcome.get()
}

/// Tries longer and longer limits, until none cuts off a client that only waits for a processor.
func trying(
  _ limits: [Int] = [1, 5, 20], _ isServed: (_ seconds: Int) async throws -> Bool
) async throws {
  for seconds in limits {
    if try await isServed(seconds) { return }
  }
  Issue.record("a client that sends its request at once is not served in time")
}

extension ServerLimits {
  /// Cuts off no client, however busy the machine is.
  static var patient: Self {
    var limits = Self()
    (limits.headSeconds, limits.bodySeconds, limits.idleSeconds) = (3600, 3600, 3600)
    (limits.sendSeconds, limits.closeSeconds, limits.endSeconds) = (3600, 3600, 3600)
    return limits
  }
}

/// A reply as a client received it.
struct Reply: Equatable, CustomStringConvertible {
  var status: Int
  var body: String
  /// The header fields, their names in lower case.
  var fields: [String: String] = [:]

  init(status: Int, body: String, fields: [String: String] = [:]) {
    (self.status, self.body, self.fields) = (status, body, fields)
  }

  /// Takes the reply from the front of some text; nil if more has to come.
  init?(_ text: inout Substring, hasBody: Bool) {
    guard let head = text.range(of: "\r\n\r\n") else { return nil }
    let lines = text[..<head.lowerBound].components(separatedBy: "\r\n")
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts.last?.trimmingCharacters(in: .whitespaces)
    }
    status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let length = hasBody ? fields["content-length"].flatMap(Int.init) ?? 0 : 0
    let bytes = text[head.upperBound...].utf8
    guard bytes.count >= length else { return nil }
    body = String(decoding: bytes.prefix(length), as: UTF8.self)
    text = text[bytes.index(bytes.startIndex, offsetBy: length)...]
  }

  /// Returns a member of a refusal.
  func member(_ name: String) -> String? {
    let members = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
    return members?[name].map { "\($0)" }
  }

  /// The code of a refusal.
  var code: String? { member("code") }

  var description: String { "\(status) \(fields) \(body)" }
}

/// Foundation's client, which is curl's library.
struct Browser {
  let port: Int
  private let session: URLSession

  init(port: Int, connections: Int = 4) {
    self.port = port
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connections
    configuration.timeoutIntervalForRequest = 300
    session = URLSession(configuration: configuration)
  }

  func ask(_ target: String, posting form: String? = nil) async throws -> Reply {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(target)") else {
      throw URLError(.badURL)
    }
    var request = URLRequest(url: url)
    if let form {
      request.httpMethod = "POST"
      request.httpBody = Data(form.utf8)
    }
    let (data, response) = try await session.data(for: request)
    return Reply(
      status: (response as? HTTPURLResponse)?.statusCode ?? 0,
      body: String(decoding: data, as: UTF8.self))
  }
}

/// A connection that sends bytes as a test gives them.
struct Wire {
  private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private var heard: Substring = ""

  /// Connects for as long as `body` runs.
  ///
  /// With `staysOpen` this side is not closed when the server ends its own.
  static func to<Value>(
    _ port: Int, staysOpen: Bool = false, _ body: (inout Wire) async throws -> Value
  ) async throws -> Value {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.allowRemoteHalfClosure, value: staysOpen)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      var wire = Wire(inbound: inbound.makeAsyncIterator(), outbound: outbound)
      return try await body(&wire)
    }
  }

  func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

  /// Sends a request without a body.
  func request(
    _ line: String, _ fields: String..., host: String? = "test", version: String = "1.1"
  ) async throws {
    let all = (host.map { ["Host: \($0)"] } ?? []) + fields
    try await send("\(line) HTTP/\(version)\r\n" + all.map { "\($0)\r\n" }.joined() + "\r\n")
  }

  /// Ends this side. The connection can still receive.
  func endSending() { outbound.finish() }

  /// Returns the next reply; nil if the server closes before it is complete.
  mutating func reply(hasBody: Bool = true) async throws -> Reply? {
    while true {
      if let reply = Reply(&heard, hasBody: hasBody) { return reply }
      guard let more = try await more() else { return nil }
      heard += more
    }
  }

  /// Returns all that comes until the server closes.
  mutating func rest() async throws -> String {
    while let more = try await more() { heard += more }
    defer { heard = "" }
    return String(heard)
  }

  private mutating func more() async throws -> String? {
    do {
      return try await inbound.next().map { String(buffer: $0) }
    } catch is IOError {
      // Cut off, like clients that do not end their side.
      return nil
    }
  }

  /// Returns the reply to a request on a connection of its own.
  static func reply(
    _ line: String, _ fields: String..., host: String? = "test", version: String = "1.1",
    body: String = "", from port: Int
  ) async throws -> Reply? {
    try await to(port) { wire in
      let all = (host.map { ["Host: \($0)"] } ?? []) + fields
      try await wire.send(
        "\(line) HTTP/\(version)\r\n" + all.map { "\($0)\r\n" }.joined() + "\r\n\(body)")
      return try await wire.reply(hasBody: !line.hasPrefix("HEAD"))
    }
  }
}
