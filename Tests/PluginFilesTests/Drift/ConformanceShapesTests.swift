import Foundation
import PluginFiles
import SwiftContracts
import TestSupport
import Testing

@Suite("Conformances of every shape to contracts that have not changed", .needs("swiftc"))
struct ConformanceShapesTests {
  private static let contracts = """
    public protocol Base { func base() }
    public protocol Item: Hashable { init?(_ number: Int) }
    public protocol Codec: Base, AnyObject {
      associatedtype One: Item = Int
      associatedtype Many where Many: Sequence, Many.Element == One
      func later() async throws -> Int
      static func shared()
      subscript(index: Int) -> String { get set }
      var value: One { get async }
      var list: Many { get }
      @MainActor func main()
      func generic<T: Item>(_ item: T) -> T
      var both: Int { get set }
      init()
    }
    extension Int: Item { public init?(_ number: Int) { self = number } }
    public protocol Plain { func plain() -> Int; func defaulted() async }
    extension Plain { public func defaulted() async {} }
    public protocol Copyless: ~Copyable { func copyless() }
    """

  private static let plugin = """
    import Contracts
    final class Whole: Codec {
      func base() {}
      func later() async throws -> Int { 1 }
      static func shared() {}
      subscript(index: Int) -> String { get { "" } set {} }
      var value: Int { get async { 3 } }
      var list: [Int] { [] }
      @MainActor func main() {}
      func generic<T: Item>(_ item: T) -> T { item }
      var both: Int { get { 1 } set {} }
      init() {}
    }
    struct Pack<each T> { var values: (repeat each T) }
    extension Pack: Plain where repeat each T: Plain { func plain() -> Int { 4 } }
    struct Packed<each T, U> { var last: U }
    extension Packed: Plain where repeat each T: Plain, U: Plain { func plain() -> Int { 4 } }
    struct Lone: ~Copyable, Copyless { func copyless() {} }
    @MainActor struct Isolated: @MainActor Plain { func plain() -> Int { 1 } }
    enum Outer<T> { struct Inner: Plain { func plain() -> Int { 7 } } }
    class Super: Plain { func plain() -> Int { 8 } }
    class Sub: Super {}
    extension Array: @retroactive Plain where Element: Plain { public func plain() -> Int { 1 } }
    func local() {
      struct Local: Plain { func plain() -> Int { 6 } }
      print(Local())
    }
    """

  @Test("none of which is said to have drifted", arguments: [false, true])
  func unchanged(isResilient: Bool) throws {
    let folder = try Folder()
    let evolution = isResilient ? ["-enable-library-evolution"] : []
    let contracts = try Compiler.swift(
      Self.contracts, module: "Contracts", as: "libContracts.so", in: folder.url,
      ["-emit-module"] + evolution)
    let plugin = try Compiler.swift(
      Self.plugin, module: "Plugin", as: "libPlugin.so", in: folder.url,
      ["-I", ".", "-L", ".", "-lContracts"])
    let drift = ContractDrift.all(
      of: try ContractExpectations(of: ContractBuilds.file(plugin)),
      against: try ContractLibrary(of: ContractBuilds.file(contracts)))
    #expect(drift.allSatisfy { $0.word == "not visible" }, "\(drift)")
    // Whole conforms to Base too.
    #expect(
      isResilient
        ? drift.isEmpty
        : drift.map(\.contract).sorted()
          == ["Contracts.Base", "Contracts.Codec", "Contracts.Copyless"]
          + Array(repeating: "Contracts.Plain", count: 7))
  }
}
