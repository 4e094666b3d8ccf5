import Foundation
import TestSupport
import Testing

@testable import BeeHive

private struct Hidden: Courier {}
private struct Generic<Content>: Courier {}

@Suite("Types that conform to a protocol, without annotations")
struct ConformersTests {
  private let hive = Hive()

  private func names(_ types: [any Any.Type]) -> Set<String> { Set(types.map { "\($0)" }) }

  @Test("are those of the process, each once")
  func process() {
    let types = hive.conformers(to: (any Courier).self)
    // An optimised file leaves out private types that nothing uses.
    #expect(types.contains { $0 == Hidden.self })
    #expect(names(types).isSuperset(of: ["Bike", "Drone", "Dispatcher", "Hidden"]))
    #expect(Set(types.map { ObjectIdentifier($0) }).count == types.count)
    // Not found are generic types, a type that conforms only on an actor, and types that conform to something else.
    #expect(names(types).isDisjoint(with: ["Crate", "Generic", "Office", "Truck", "Pigeon"]))
    #expect(names(hive.conformers(to: (any Express).self)) == ["Drone", "Dispatcher"])
  }

  @Test("of a composition fulfil each part of it")
  func compositions() {
    #expect(names(hive.conformers(to: (any Courier & Signed).self)) == ["Bike"])
    #expect(names(hive.conformers(to: (any Signed & Vehicle).self)) == ["Bike"])
    #expect(hive.conformers(to: (any Sendable).self).isEmpty)
    #expect(hive.conformers(to: Vehicle.self).isEmpty)
    #expect(hive.conformers(to: (any Feed<Int>).self).isEmpty)
    #expect(names(hive.conformers(to: (any Feed).self)).contains("Pigeon"))
  }

  @Test("of one image are those that section-dump reads of its file", .needs("swiftc"))
  func image() throws {
    let library = try SwiftLibrary(
      module: "Conforming",
      """
      public struct Near: CustomStringConvertible { public var description: String { "near" } }
      struct Inner: Hashable, CustomStringConvertible { var description: String { "inner" } }
      enum Outer { final class Deep: CustomStringConvertible { var description: String { "deep" } } }
      extension Outer { struct Added: CustomStringConvertible { var description: String { "added" } } }
      struct Generic<T>: CustomStringConvertible { var description: String { "generic" } }
      """)
    let table = try Command.output(
      Repository.sectionDump,
      [
        "conformances", library.file.path, "--to", "Swift.CustomStringConvertible", "--format",
        "csv",
      ])
    let rows = table.split(separator: "\n").dropFirst().map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    let read = rows.filter { !$0[5].contains("generic") }.map { String($0[2]) }
    #expect(
      read.sorted() == [
        "Conforming.Inner", "Conforming.Near", "Conforming.Outer.Added", "Conforming.Outer.Deep",
      ])
    #expect(rows.count == 5)

    #expect(hive.conformers(to: (any CustomStringConvertible).self, in: library.file.path).isEmpty)
    try library.load()
    let types = hive.conformers(to: (any CustomStringConvertible).self, in: library.file.path)
    #expect(types.map { String(reflecting: $0) } == read)
    #expect(hive.conformers(to: (any Courier).self, in: library.file.path).isEmpty)
  }
}
