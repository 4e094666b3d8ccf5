import BeeHive
import FactoryKit
import Swinject

// One operation of one system, so many times: `peers swinject-register 1000`. `measure` counts the instructions.

final class Price: Sendable {
  let cents: Int
  init(cents: Int) { self.cents = cents }
}

extension FactoryKit.Container {
  var price: Factory<Price> { self { Price(cents: 1) } }
}

guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]) else {
  fatalError("peers OPERATION COUNT")
}
let names = (0..<count).map { "price \($0)" }
var sum = 0

switch CommandLine.arguments[1] {
case "names": break
case "beehive-register":
  let hive = Hive()
  for name in names { try hive.register(Price.self, name: name) { _ in Price(cents: 1) } }
case "swinject-register":
  let container = Swinject.Container()
  for name in names { container.register(Price.self, name: name) { _ in Price(cents: 1) } }
case "beehive-make":
  let hive = Hive()
  try hive.register(Price.self) { _ in Price(cents: 1) }
  for _ in names { sum += try hive.service(Price.self).cents }
case "factory-make":
  for _ in names { sum += FactoryKit.Container.shared.price().cents }
case "swinject-make":
  let container = Swinject.Container()
  container.register(Price.self) { _ in Price(cents: 1) }
  for _ in names { sum += container.resolve(Price.self)?.cents ?? 0 }
case let other: fatalError("peers knows no \(other)")
}
print(names.count, sum)
