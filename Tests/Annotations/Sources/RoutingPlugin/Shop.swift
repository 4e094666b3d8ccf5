internal import BeeHive
internal import BeeHiveAnnotations
internal import BeeHiveRouting

enum Currency: String, URLConvertible { case euro, yen }

@Target("shop")
final class ShopTarget: Target {
  @Action(.remote)
  func price(sku: String, currency: Currency = .euro, count: Int?) async throws -> String {
    "\(sku.utf8.count * (count ?? 1)) \(currency)"
  }

  @Action func open() -> Bool { true }

  @Action func tell(_ listener: @escaping @Sendable (Int) -> Void) { listener(7) }
}

@Target("till")
actor Till: Target {
  private var sum = 0
  @Action func add(_ amount: Int) -> Int {
    sum += amount
    return sum
  }
}

@Route("app://shop/:id<Int>?from", .remote)
func show(id: Int, from: String?) -> String { "item \(id) from \(from ?? "nowhere")" }

enum Pages {
  @Route("app://pages/*", priority: 2)
  static func page(_ call: RouteCall) async throws -> String { "page of \(call.url)" }
}

@Route("app://found?by&page<Double>=1", .remote)
func found(by finder: String = "chance", page: Double) -> String { "found by \(finder), \(page)" }

@Facade("shop")
protocol Shop: Sendable {
  func price(sku: String, currency: Currency?, count: Int?) async throws -> String
  func open() async throws -> Bool
}

@Facade("account")
protocol Account: Sendable {
  func missing() async throws
}

extension Mediator {
  var shop: ShopCalls { ShopCalls(self) }
}

/// A module that prints the answers of the routing macros' entries.
@BeeHiveModule(requires: "log")
struct RoutingModule: Module {
  func setUp(_ context: Context) async throws {
    let hive = Hive.process
    print("facade:", try await hive.mediator.shop.price(sku: "ab", currency: .yen, count: 2))
    print("facade:", try await hive.mediator.shop.price(sku: "ab"))
    print("facade:", try await hive.mediator.shop.price(sku: "ab", count: 3))
    print("facade:", try await hive.mediator.shop.open())
    try hive.mediator.check(ShopCalls.self)
    do {
      try hive.mediator.check(AccountCalls.self)
    } catch {
      print("facade:", error.code.rawValue)
    }
    let listener: @Sendable (Int) -> Void = { print("listener:", $0) }
    try await hive.mediator.perform("shop", "tell", ["listener": listener])
    for amount in [1, 2] {
      print(
        "till:", try await hive.mediator.perform("till", "add", ["amount": amount], as: Int.self))
    }
    for url in [
      "app://shop/7?from=mail", "app://shop/price?sku=abc", "app://pages/a/b", "app://found",
      "app://found?by=mail&page=2",
    ] {
      do {
        print("remote:", try await hive.router.open(url, origin: .remote))
      } catch {
        print("remote:", (error as? RoutingError)?.code.rawValue ?? "\(error)")
      }
    }
    print("local:", try await hive.router.open("app://pages/a/b"))
  }
}
