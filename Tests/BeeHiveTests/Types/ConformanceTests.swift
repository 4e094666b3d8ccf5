import Testing

@testable import BeeHive

protocol Express: Courier {}
protocol Stationed: Vehicle {}
final class Bike: Vehicle, Courier, Signed {}
final class Truck: Vehicle, Stationed {}
actor Dispatcher: Express {}
struct Drone: Express, Sendable {}
enum Pigeon: Feed { typealias Item = Int }
extension Crate: Courier where Content: Courier {}
struct Office: @MainActor Courier {}

@Suite("Conformance")
struct ConformanceTests {
  static let rows: [(type: any Any.Type, service: any Any.Type, answer: Conformance)] = [
    (Drone.self, (any Courier).self, .holds),
    (Drone.self, (any Express).self, .holds),
    (Dispatcher.self, (any Courier).self, .holds),
    (Bike.self, (any Signed).self, .holds),
    (Bike.self, (any Courier & Signed).self, .holds),
    (Bike.self, (any Courier & Signed & Sendable).self, .holds),
    (Bike.self, (any Vehicle & Courier).self, .holds),
    (Truck.self, (any Stationed).self, .holds),
    (Pigeon.self, (any Feed).self, .holds),
    (Crate<Drone>.self, (any Courier).self, .holds),
    (Drone.self, (any Sendable).self, .holds),
    (Drone.self, Any.self, .holds),
    (Bike.self, (any AnyObject).self, .holds),
    (Drone.self, (any AnyObject).self, .fails("BeeHiveTests.Drone is no class")),
    (Drone.self, (any Signed).self, .fails("BeeHiveTests.Drone is no class")),
    (
      Vehicle.self, (any Courier).self,
      .fails("BeeHiveTests.Vehicle does not conform to BeeHiveTests.Courier")
    ),
    (
      Dispatcher.self, (any Courier & Signed).self,
      .fails("BeeHiveTests.Dispatcher does not conform to BeeHiveTests.Signed")
    ),
    (
      Dispatcher.self, (any Vehicle & Courier).self,
      .fails("BeeHiveTests.Dispatcher is no subclass of BeeHiveTests.Vehicle")
    ),
    (
      Crate<Int>.self, (any Courier).self,
      .fails("BeeHiveTests.Crate<Swift.Int> does not conform to BeeHiveTests.Courier")
    ),
    (
      (any Express).self, (any Courier).self,
      .fails("BeeHiveTests.Express is a protocol, which does not conform to one")
    ),
    (
      (any Courier).self, (any Courier).self,
      .fails("BeeHiveTests.Courier is a protocol, which nothing can make an instance of")
    ),
    (
      Office.self, (any Courier).self,
      .undecided("BeeHiveTests.Office conforms to BeeHiveTests.Courier on Swift.MainActor only")
    ),
    (
      Pigeon.self, (any Feed<Int>).self,
      .undecided(
        "BeeHiveTests.Feed<Swift.Int> constrains associated types; only an instance shows it")
    ),
    // A class serves for its superclass, any type for itself.
    (Bike.self, Vehicle.self, .holds),
    (Bike.self, Bike.self, .holds),
    (Drone.self, Drone.self, .holds),
    (Vehicle.self, Bike.self, .fails("BeeHiveTests.Vehicle is no subclass of BeeHiveTests.Bike")),
    (Drone.self, Vehicle.self, .fails("BeeHiveTests.Drone is no subclass of BeeHiveTests.Vehicle")),
    (
      Drone.self, Int.self,
      .fails("BeeHiveTests.Drone is not Swift.Int, which only itself can serve")
    ),
  ]

  @Test("a type serves where it conforms", arguments: rows)
  func conformance(type: any Any.Type, service: any Any.Type, answer: Conformance) {
    #expect(Conformance.of(type, to: service) == answer)
  }
}
