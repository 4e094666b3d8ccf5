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
  struct Row: Sendable, CustomTestStringConvertible {
    let type: any Any.Type
    let service: any Any.Type
    var answer = Conformance.holds
    init(_ type: any Any.Type, _ service: any Any.Type, _ answer: Conformance = .holds) {
      self.type = type
      self.service = service
      self.answer = answer
    }
    var testDescription: String { "\(type) as \(service)" }
  }

  static let rows = [
    Row(Drone.self, (any Courier).self),
    Row(Drone.self, (any Express).self),
    Row(Dispatcher.self, (any Courier).self),
    Row(Bike.self, (any Signed).self),
    Row(Bike.self, (any Courier & Signed).self),
    Row(Bike.self, (any Courier & Signed & Sendable).self),
    Row(Bike.self, (any Vehicle & Courier).self),
    Row(Truck.self, (any Stationed).self),
    Row(Pigeon.self, (any Feed).self),
    Row(Crate<Drone>.self, (any Courier).self),
    Row(Drone.self, (any Sendable).self),
    Row(Drone.self, Any.self),
    Row(Bike.self, (any AnyObject).self),
    Row(Drone.self, (any AnyObject).self, .fails("BeeHiveTests.Drone is no class")),
    Row(Drone.self, (any Signed).self, .fails("BeeHiveTests.Drone is no class")),
    Row(
      Vehicle.self, (any Courier).self,
      .fails("BeeHiveTests.Vehicle does not conform to BeeHiveTests.Courier")),
    Row(
      Dispatcher.self, (any Courier & Signed).self,
      .fails("BeeHiveTests.Dispatcher does not conform to BeeHiveTests.Signed")),
    Row(
      Dispatcher.self, (any Vehicle & Courier).self,
      .fails("BeeHiveTests.Dispatcher is no subclass of BeeHiveTests.Vehicle")),
    Row(
      Crate<Int>.self, (any Courier).self,
      .fails("BeeHiveTests.Crate<Swift.Int> does not conform to BeeHiveTests.Courier")),
    Row(
      (any Express).self, (any Courier).self,
      .fails("BeeHiveTests.Express is a protocol, which does not conform to one")),
    Row(
      (any Courier).self, (any Courier).self,
      .fails("BeeHiveTests.Courier is a protocol, which nothing can make an instance of")),
    Row(
      Office.self, (any Courier).self,
      .undecided("BeeHiveTests.Office conforms to BeeHiveTests.Courier on Swift.MainActor only")),
    Row(
      Pigeon.self, (any Feed<Int>).self,
      .undecided(
        "BeeHiveTests.Feed<Swift.Int> constrains associated types; only an instance shows it")),
    // A class serves for its superclass, any type for itself.
    Row(Bike.self, Vehicle.self),
    Row(Bike.self, Bike.self),
    Row(Drone.self, Drone.self),
    Row(
      Vehicle.self, Bike.self, .fails("BeeHiveTests.Vehicle is no subclass of BeeHiveTests.Bike")),
    Row(
      Drone.self, Vehicle.self, .fails("BeeHiveTests.Drone is no subclass of BeeHiveTests.Vehicle")),
    Row(
      Drone.self, Int.self,
      .fails("BeeHiveTests.Drone is not Swift.Int, which only itself can serve")),
  ]

  @Test("a type serves where it conforms", arguments: rows)
  func conformance(row: Row) {
    #expect(Conformance.of(row.type, to: row.service) == row.answer)
  }
}
