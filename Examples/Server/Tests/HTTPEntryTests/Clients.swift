import BeeHiveRouting
import Foundation
import HTTPEntry
import NIOCore
import NIOPosix

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server on loopback while `body` runs, which is told the port.
func serving(_ router: Router, _ body: (Int) async throws -> Void) async throws {
  let entry = try await HTTPEntry(router, scheme: "app")
  let server = Task { try await entry.run() }
  let outcome: Result<Void, any Error>
  do { outcome = .success(try await body(entry.port)) } catch { outcome = .failure(error) }
  server.cancel()
  try await server.value
  try outcome.get()
}

/// What a client was told.
struct Reply: Equatable, CustomStringConvertible {
  var status: Int
  var body: String

  /// The code of a refusal.
  var error: String? {
    (try? JSONDecoder().decode([String: String].self, from: Data(body.utf8)))?["error"]
  }

  var description: String { "\(status) \(body)" }
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

/// Sends bytes as they are, and hears everything until the server closes.
enum Telnet {
  static func say(_ text: String, to port: Int) async throws -> [Reply] {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    let heard = try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(string: text))
      var heard = ""
      do { for try await part in inbound { heard += String(buffer: part) } } catch is IOError {
        // Whoever is refused before having said everything is also cut off.
      }
      return heard
    }
    return heard.components(separatedBy: "HTTP/1.1 ").dropFirst().map { reply in
      let parts = reply.components(separatedBy: "\r\n\r\n")
      return Reply(
        status: Int(reply.prefix(3)) ?? 0, body: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }
  }

  /// A GET of a target that no URL of a client could hold.
  static func get(_ target: String, from port: Int) async throws -> Reply? {
    try await say("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", to: port).first
  }
}
