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
    hive.calls.context { _ in ["user": "ada"] }  // what no caller can choose
    try hive.calls.guardCalls("closed", .url("app://closed/:page"), then: .refuse("closed today"))
    hive.calls.intercept("log", priority: 100) { call in
      print(call)
      return .proceed
    }
    hive.calls.observe { print($0) }  // a call begins, is decided about, and ends

    let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))

    let table = try JSONDecoder().decode(DecisionTable.self, from: data)
    try hive.calls.load(table)  // all of it, or an error that lists every problem
    print(hive.calls.explain("app://detail/7"))  // a dry run: nothing is called

    for url in CommandLine.arguments.dropFirst(2) { print(hive.calls.explain(url)) }
  }
}
