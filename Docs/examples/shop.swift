// Calls by name and by URL, as the guide CallByNameAndURL.md shows them: a program that takes a decision table's file.
import BeeHive
import BeeHiveAnnotations
import BeeHiveRouting
import Foundation

struct Price: Sendable { var cents: Int }
struct Page: Sendable { var title: String }
enum Currency: String, URLConvertible { case euro, dollar }

@Target("shop") final class ShopTarget: Target {
  @Action(.remote) func price(sku: String, currency: Currency = .euro) async throws -> Price {
    Price(cents: sku.utf8.count * (currency == .euro ? 100 : 110))
  }
}
@Route("app://shop/:id<Int>?from", .remote) func show(id: Int, from: String?) async throws -> Page {
  Page(title: "item \(id), by \(from ?? "chance")")
}

@main enum Program {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: shop TABLE.json") }
    let hive = Hive.process
    let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))

    let price: Price = try await hive.mediator.perform("shop", "price", ["sku": "a1"])
    try await hive.router.open("app://shop/42?from=mail", origin: .remote)
    try hive.calls.load(JSONDecoder().decode(DecisionTable.self, from: data))  // redirect, block
    print(hive.calls.explain("app://shop/42"))  // a dry run
    print(hive.catalogue())  // every interface

    print(price.cents)
  }
}
