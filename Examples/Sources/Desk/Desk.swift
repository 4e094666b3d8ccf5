// Opens URLs from outside: reads one URL a line and writes its answer or its refusal. With a file, loads the decision
// table in it. `?` before a URL asks what would happen; `?` by itself lists what there is.
//
//   printf 'app://book/7\n?app://book/7\n?\n' | desk [november.json]

internal import BeeHiveRouting
internal import Foundation

struct BookTarget: Target {
  static let actions: [Action<BookTarget>] = [
    Action("price", [Parameter("isbn", String.self)], exposure: .remote) { _, arguments in
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
    try hive.router.register("app://book/:id<Int>?from", exposure: .remote) { call in
      let (id, from): (Int, String?) = (try call["id"], try call["from"])
      return "book \(id), found by \(from ?? "chance")"
    }
    try hive.router.register("app://storeroom") { _ in "nobody from outside gets here" }
    for file in CommandLine.arguments.dropFirst() {
      do {
        let data = try Data(contentsOf: URL(filePath: file))
        try hive.calls.load(
          DecisionTable { try JSONDecoder().decode(DecisionTable.self, from: data) })
      } catch {
        FileHandle.standardError.write(Data("\(file): \(error)\n".utf8))
        exit(1)
      }
    }
    while let line = readLine() {
      switch line.first {
      case nil: continue
      case "?" where line.count == 1: print(hive.catalogue())
      case "?": print(hive.calls.explain(String(line.dropFirst()), origin: .remote))
      default: print(await answer(to: line, in: hive))
      }
    }
  }

  private static func answer(to url: String, in hive: Hive) async -> String {
    do {
      return "\(try await hive.router.open(url, origin: .remote))"
    } catch let error as RoutingError {
      return "\(error.code.rawValue): \(error)"
    } catch {
      return "failed: \(error)"
    }
  }
}
