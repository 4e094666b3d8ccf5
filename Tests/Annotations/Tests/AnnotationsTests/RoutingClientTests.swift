import Foundation
import Testing

/// What a host finds in `Sources/RoutingPlugin`, loaded and as a file.
@Suite struct RoutingClientTests {
  private var plugin: String {
    SwiftCompiler.products.appending(path: "libRoutingPlugin.so").path()
  }

  @Test func theHostCallsWhatThePluginDeclares() throws {
    let host = SwiftCompiler.products.appending(path: "Host").path()
    let outcome = try SwiftCompiler.run([host, plugin])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output == """
        0 entries
        module RoutingPlugin.RoutingModule –
        route app://pages/* page
        route app://shop/:id<Int>?from show
        target shop RoutingPlugin.ShopTarget
        target till RoutingPlugin.Till
        facade: 4 yen
        facade: true
        listener: 7
        till: 1
        till: 3
        remote: item 7 from mail
        remote: 3 euro
        remote: not-remote
        local: page of app://pages/a/b
        running ["log", "RoutingPlugin.RoutingModule"]

        """)
  }

  @Test func theFileShowsTheSame() throws {
    let lines = try SectionDump.read(plugin).records.map(\.line).sorted()
    #expect(lines.contains { $0.contains("target till → RoutingPlugin.Till") })
    #expect(
      lines.contains {
        $0.contains(
          "action=remote price(sku: String, currency: Currency = euro, count: Int?) async throws -> String"
        )
      }, "\(lines)")
    #expect(
      lines.contains {
        $0.contains("route app://shop/:id<Int>?from → show") && $0.contains("remote=true")
      })
  }
}
