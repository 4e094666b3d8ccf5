// What Docs/decision-table.md shows: loads the table of a file, and says what becomes of URLs.
import BeeHive
import BeeHiveRouting
import Foundation

@main enum Program {
  static func main() throws {
    let hive = Hive.process
    try hive.router.register("app://detail/:id") { _ in "the new page" }
    try hive.router.register("app://old/detail") { _ in "the old page" }
    hive.calls.define(guard: "detail-is-healthy") { _ in true }
    let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))

    let table = try JSONDecoder().decode(DecisionTable.self, from: data)
    try hive.calls.load(table)  // all of it, or an error that lists every problem
    print(hive.calls.explain("app://detail/7"))  // a dry run: nothing is called

    for url in CommandLine.arguments.dropFirst(2) { print(hive.calls.explain(url)) }
  }
}
