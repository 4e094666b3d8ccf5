import Foundation
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import MacrosUnderTest

/// Expands the routing macros in `source`, which the module `Shop` holds, and compares.
private func expectRouting(
  of source: String, _ expanded: String, diagnostics: [DiagnosticSpec] = [],
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: expanded, diagnostics: diagnostics,
    macroSpecs: [
      "Target": MacroSpec(type: TargetMacro.self), "Action": MacroSpec(type: ActionMacro.self),
      "Route": MacroSpec(type: RouteMacro.self), "Facade": MacroSpec(type: FacadeMacro.self),
    ],
    testModuleName: "Shop", testFileName: "/code/Shop.swift", indentationWidth: .spaces(2),
    failureHandler: { failure in
      Issue.record("\(failure.message)", sourceLocation: sourceLocation)
    })
}

@Suite struct RoutingMacroTests {
  @Test func aFacadeCallsTheTargetForEachRequirement() {
    expectRouting(
      of: """
        @Facade("shop")
        public protocol Shop: Sendable {
          func price(sku: String, in currency: Currency) async throws -> Price
          func close() async throws
        }
        """,
      """
      public protocol Shop: Sendable {
        func price(sku: String, in currency: Currency) async throws -> Price
        func close() async throws
      }

      public struct ShopCalls: Shop {
        private let mediator: BeeHiveRouting.Mediator
        public init(_ mediator: BeeHiveRouting.Mediator) {
          self.mediator = mediator
        }
        public func price(sku: String, in currency: Currency) async throws -> Price {
          try await mediator.perform("shop", "price", ["sku": sku, "in": currency])
        }
        public func close() async throws {
          try await mediator.perform("shop", "close", [:])
        }
      }
      """)
  }

  @Test(arguments: [
    (
      "@Target(\"shop\") struct Box<T>: Target {}", 1, 27,
      "'Box' is generic, and an entry has no type arguments; annotate a type that is not, or register it with hive.mediator.register"
    ),
    (
      "@Target(\"\") struct Box: Target {}", 1, 9, "the target's name must not be empty"
    ),
    (
      "@Target(\"shop\") struct Box: Target { let a: Int }", 1, 24,
      "'Box' needs an init() without arguments in its body: whoever asks for one has none to give; write it, or register it with hive.mediator.register instead"
    ),
    (
      "@Target(\"shop\") struct Box: Target { @Action func a<T>(t: T) {} }", 1, 52,
      "@Action needs a function without type parameters: a call by name has none to give"
    ),
    (
      "@Target(\"shop\") struct Box: Target { @Action func a(t: inout Int) {} }", 1, 53,
      "@Action takes values: make this parameter an array, or return what it changes"
    ),
    (
      "@Target(\"shop\") struct Box: Target { @Action(.remote) func nativeOpen() {} }", 1, 60,
      "names that begin with native are never remote; rename it, or remove .remote"
    ),
    (
      "@Action func a() {}", 1, 1,
      "@Action belongs to a method, not static and not mutating, in the body of a type with @Target"
    ),
    (
      "@Route(\"/a\") struct Box {}", 1, 1, "@Route belongs to a static method or a global function"
    ),
    (
      "@Route(\"/a/:id\") func a(id: Int, idx: Int) {}", 1, 24,
      "the pattern gives no value to idx; add :idx to its path, or idx to its query"
    ),
    (
      "@Facade(\"shop\") struct Box {}", 1, 1,
      "@Facade belongs to a protocol, whose requirements are the actions"
    ),
    (
      "@Facade(\"shop\") protocol Box { func a() throws }", 1, 38,
      "a call by name waits and may fail: declare a as async throws"
    ),
  ])
  func whatCannotBeIsRefusedWhereItStands(source: String, line: Int, column: Int, message: String) {
    var macros: [String] = []
    assertMacroExpansion(
      source, expandedSource: source, diagnostics: [],
      macroSpecs: [
        "Target": MacroSpec(type: TargetMacro.self), "Action": MacroSpec(type: ActionMacro.self),
        "Route": MacroSpec(type: RouteMacro.self), "Facade": MacroSpec(type: FacadeMacro.self),
      ],
      testModuleName: "Shop", testFileName: "/code/Shop.swift",
      failureHandler: { macros.append($0.message) })
    #expect(
      macros.contains { $0.contains(message) && $0.contains("\(line):\(column)") }, "\(macros)")
  }
}
