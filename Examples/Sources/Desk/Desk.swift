// Opens URLs from outside: one a line on standard input, its answer or its refusal on standard output. With
// a file, the decision table in it holds; `?` before a URL asks what would happen.
//
//   printf 'app://book/7\n?app://book/7\n' | desk [table.json]

internal import BeeHiveRouting
internal import Foundation

struct BookTarget: Target {
  static let actions: [Action<BookTarget>] = [
    Action("price", [Parameter("isbn", String.self)], isRemote: true) { _, arguments in
      let isbn: String = try arguments["isbn"]
      return isbn.utf8.count * 100
    },
    Action("sell", [Parameter("isbn", String.self)]) { _, _ in true },
  ]
}

@main enum Desk {
  static func main() async throws {
    let hive = Hive.process
    try hive.mediator.register("books") { BookTarget() }
    try hive.router.register("app://book/:id<Int>?from", isRemote: true) { call in
      let (id, from): (Int, String?) = (try call["id"], try call["from"])
      return "book \(id), found by \(from ?? "chance")"
    }
    try hive.router.register("app://storeroom") { _ in "nobody from outside gets here" }
    if CommandLine.arguments.count > 1 {
      let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
      try hive.calls.load(JSONDecoder().decode(DecisionTable.self, from: data))
    }
    while let line = readLine() {
      if line.hasPrefix("?") {
        print(hive.calls.explain(String(line.dropFirst()), origin: .remote))
        continue
      }
      do {
        print(try await hive.router.open(line, origin: .remote))
      } catch let error as RoutingError {
        print("\(error.code.rawValue): \(error)")
      }
    }
  }
}
