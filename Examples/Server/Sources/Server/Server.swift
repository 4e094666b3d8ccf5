// A book shop on loopback. Clients reach what is marked remote, and nothing else:
//
//   $ swift run Server 8080 &
//   $ curl 'http://127.0.0.1:8080/book/7?from=mail'
//   "book 7, found by mail"
//   $ curl -d by=me http://127.0.0.1:8080/order/7
//   "ordered 7 for me"
//   $ curl 'http://127.0.0.1:8080/books/sell?isbn=978'
//   {"code":"not-found","detail":"There is nothing here.","status":404,"title":"Not Found",…}
//
// README.md has the limits that an operator can set.

internal import BeeHive
internal import BeeHiveRouting
internal import Foundation
internal import HTTPEntry
internal import HTTPTypes
internal import Logging
internal import ServiceLifecycle

struct BookTarget: Target {
  static let actions: [Action<BookTarget>] = [
    Action("price", [Parameter("isbn", String.self)], exposure: .remote) { _, arguments in
      let isbn: String = try arguments["isbn"]
      return ["euro": isbn.utf8.count]
    },
    Action("sell", [Parameter("isbn", String.self)]) { _, _ in true },
  ]
}

/// Rules about the context that `serve` makes of header fields. No parameter can override it.
private let rules = """
  { "version": 1, "name": "shop", "rules": [
      { "name": "robots", "match": { "route": "app://order/:id<Int>" },
        "when": [ { "context": "agent", "contains": "bot" } ],
        "do": { "block": "robots order nothing" } } ] }
  """

@main enum Server {
  static func main() async {
    do {
      let arguments = CommandLine.arguments.dropFirst()
      guard arguments.count <= 1 else {
        throw PortError(description: "the port is the one argument that there is")
      }
      try await serve(arguments.first ?? "0")
    } catch {
      FileHandle.standardError.write(Data("Server: \(error)\n".utf8))
      exit(1)
    }
  }

  /// The reason that the first argument is no port.
  private struct PortError: Error, CustomStringConvertible {
    var description: String
  }

  private static func serve(_ port: String) async throws {
    guard let port = UInt16(port) else {
      throw PortError(
        description: "\(port) is no port; give a number up to 65535, or none to have one chosen")
    }
    let hive = Hive.process
    try hive.mediator.register("books") { BookTarget() }
    try hive.router.register("app://book/:id<Int>?from", exposure: .remote) { call in
      let (id, from): (Int, String?) = (try call["id"], try call["from"])
      return "book \(id), found by \(from ?? "chance")"
    }
    try hive.router.register("app://order/:id<Int>?by<String>", exposure: .remote) { call in
      let (id, by): (Int, String) = (try call["id"], try call["by"])
      return "ordered \(id) for \(by)"
    }
    try hive.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(rules.utf8)))
    let limits = try ServerLimits(Configuration(environmentPrefix: "SERVER"))
    let group = ServiceGroup(
      serving: hive, scheme: "app",
      port: Int(port), limits: limits,
      methods: ["app://order/:id<Int>": [.post], "books.price": [.get, .post]],
      context: { fields in ["agent": fields[.userAgent] ?? ""] },
      logger: Logger(label: "server", factory: { StreamLogHandler.standardError(label: $0) })
    ) { port in
      // Written at once, also into a pipe.
      let text = "http://127.0.0.1:\(port)\n\(hive.catalogue())\n"
      FileHandle.standardOutput.write(Data(text.utf8))
    }
    // Until SIGINT or SIGTERM.
    try await group.run()
  }
}
