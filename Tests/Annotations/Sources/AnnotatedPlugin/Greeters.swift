internal import BeeHive
internal import BeeHiveAnnotations

protocol Greeter: Sendable {
  func greet() -> String
}

@BeeHiveService((any Greeter).self, scope: .singleton, priority: 1)
final class English: Greeter {
  func greet() -> String { "Hello" }
}

@BeeHiveService((any Greeter).self, name: "fr")
private struct French: Greeter {
  func greet() -> String { "Bonjour" }
}

@BeeHiveModule(requires: "log")
actor GreetingModule: Module {
  func setUp(_ context: Context) async throws {
    for greeter in try Hive.process.all(of: (any Greeter).self) { print(greeter.greet()) }
  }
}
