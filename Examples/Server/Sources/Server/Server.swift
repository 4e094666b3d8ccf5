// A book shop on loopback. What is marked remote can be reached, and nothing else:
//
//   $ swift run Server 8080 &
//   $ curl 'http://127.0.0.1:8080/book/7?from=mail'
//   "book 7, found by mail"
//   $ curl 'http://127.0.0.1:8080/books/sell?isbn=978'
//   {"code":"not-found","detail":"There is nothing here.","status":404,"title":"Not Found",…}
//
// README.md has the limits that an operator can set.

internal import BeeHive
internal import BeeHiveRouting
internal import HTTPEntry
internal import Logging
internal import ServiceLifecycle

struct BookTarget: Target {
  static let actions: [Action<BookTarget>] = [
    Action("price", [Parameter("isbn", String.self)], isRemote: true) { _, arguments in
      let isbn: String = try arguments["isbn"]
      return ["euro": isbn.utf8.count]
    },
    Action("sell", [Parameter("isbn", String.self)]) { _, _ in true },
  ]
}

@main enum Server {
  static func main() async throws {
    let hive = Hive.process
    try hive.mediator.register("books") { BookTarget() }
    try hive.router.register("app://book/:id<Int>?from", isRemote: true) { call in
      let (id, from): (Int, String?) = (try call["id"], try call["from"])
      return "book \(id), found by \(from ?? "chance")"
    }
    let limits = try ServerLimits(Configuration(environmentPrefix: "SERVER"))
    let group = ServiceGroup(
      serving: hive, scheme: "app",
      port: CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 0, limits: limits,
      logger: Logger(label: "server", factory: { StreamLogHandler.standardError(label: $0) })
    ) { port in
      print("http://127.0.0.1:\(port)\n\(hive.catalogue())")
    }
    // Until SIGINT or SIGTERM.
    try await group.run()
  }
}
