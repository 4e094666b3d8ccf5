import Foundation
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import MacrosUnderTest

private let specs = [
  "Target": MacroSpec(type: TargetMacro.self), "Action": MacroSpec(type: ActionMacro.self),
  "Route": MacroSpec(type: RouteMacro.self), "Facade": MacroSpec(type: FacadeMacro.self),
]

/// Expands the routing macros in `source`, a file of the module `Shop`, and compares.
private func expectRouting(
  of source: String, _ expanded: String, diagnostics: [DiagnosticSpec] = [],
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: expanded, diagnostics: diagnostics,
    macroSpecs: specs, testModuleName: "Shop", testFileName: "/code/Shop.swift",
    indentationWidth: .spaces(2),
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
          func price(sku: String, in currency: Currency?) async throws -> Price
          func close() async throws
        }
        """,
      """
      public protocol Shop: Sendable {
        func price(sku: String, in currency: Currency?) async throws -> Price
        func close() async throws
      }

      public struct ShopCalls: Shop, BeeHiveRouting.FacadeCalls {
        public static var target: String {
          "shop"
        }
        public static var declarations: [String] {
          ["price(sku: String, in: Currency?) async throws -> Price", "close() async throws"]
        }
        private let mediator: BeeHiveRouting.Mediator
        public init(_ mediator: BeeHiveRouting.Mediator) {
          self.mediator = mediator
        }
        public func price(sku: String, in currency: Currency? = nil) async throws -> Price {
          try await mediator.perform("shop", "price", BeeHiveRouting.Arguments(given: ["sku": sku, "in": currency]))
        }
        public func close() async throws {
          try await mediator.perform("shop", "close", [:])
        }
      }
      """)
  }

  @Test(arguments: RefusedUse.routing)
  func whatCannotBeIsRefusedWhereItStands(refused: RefusedUse) {
    var said: [String] = []
    assertMacroExpansion(
      refused.source, expandedSource: refused.source, diagnostics: [],
      macroSpecs: specs, testModuleName: "Shop", testFileName: "/code/Shop.swift",
      failureHandler: { said.append($0.message) })
    for problem in refused.problems {
      #expect(
        said.contains {
          $0.contains(problem.message) && $0.contains("\(problem.line):\(problem.column)")
        }, "\(said)")
    }
  }
}
