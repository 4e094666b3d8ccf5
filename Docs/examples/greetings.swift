// A library in Swift with macros, as a guide links to it. `Greeter` comes from the module `Contracts`, a dynamic library of
// another package: Examples/Contracts.
import BeeHive
import BeeHiveAnnotations
import Contracts

@BeeHiveService((any Greeter).self, scope: .singleton)
final class EnglishGreeter: Greeter {
  func greeting(for customer: String) -> String { "Good morning, \(customer)." }
}

@BeeHiveModule(priority: 10, requires: "log")
struct ShopModule: Module {
  func setUp(_ context: Context) async throws {
    print(try Hive.process.service((any Greeter).self).greeting(for: "Ada"))
  }
}
