// What Docs/services.md shows, as a program.
import BeeHive

protocol Greeter: Sendable { func greet() -> String }
struct EnglishGreeter: Greeter { func greet() -> String { "Good morning." } }
struct Basket: Sendable { var greeter: any Greeter }
final class Page: Sendable, Disposable { func dispose() { print("a page is disposed of") } }
struct Catalogue: Sendable {
  var items: [String]
  static func fetch() async throws -> Catalogue { Catalogue(items: ["tea", "salt"]) }
}
@MainActor final class Window {}
protocol Reader: Sendable {}
protocol Writer: Sendable {}
final class Disk: Reader, Writer {}

@main enum Program {
  static func main() async throws {
    let hive = Hive()
    try hive.register(Page.self, scope: .scoped) { _ in Page() }

    try hive.register((any Greeter).self, scope: .singleton) { _ in EnglishGreeter() }
    try hive.register(Basket.self) { hive in Basket(greeter: try hive.service()) }
    let basket = try hive.service(Basket.self)
    print(basket.greeter.greet())

    let session = hive.makeScope()
    let request = session.makeScope()  // has scoped services of its own, and ends no later
    let page = try request.service(Page.self)  // what Page needs comes from this scope too
    session.end()  // disposes of what both made, the latest first
    _ = page

    try hive.register(Disk.self, scope: .singleton) { _ in Disk() }
    try hive.register((any Reader).self) { hive in try hive.service(Disk.self) }
    try hive.register((any Writer).self) { hive in try hive.service(Disk.self) }

    try hive.register(
      Catalogue.self, scope: .singleton, loading: { _ in try await Catalogue.fetch() })
    try hive.register(Window.self, scope: .singleton, loading: { @MainActor _ in Window() })
    let catalogue = try await hive.load(Catalogue.self)
    print(catalogue.items.count, "items")
  }
}
