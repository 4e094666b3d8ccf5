import Foundation
import Testing

/// The entries that a host finds in `Sources/RoutingPlugin` of `Tests/Annotations`, loaded and as a file.
@Suite struct RoutingClientTests {
  private static let plugin = Result { try Client.plugin("RoutingPlugin") }

  @Test func theHostCallsWhatThePluginDeclares() throws {
    let outcome = try Command.run(try Client.host.get(), [try Self.plugin.get()])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output == """
        0 entries
        module RoutingPlugin.RoutingModule –
        route app://found?by&page<Double>=1 found
        route app://pages/* page
        route app://shop/:id<Int>?from show
        target shop RoutingPlugin.ShopTarget
        target till RoutingPlugin.Till
        facade: 4 yen
        facade: 2 euro
        facade: 6 euro
        facade: true
        facade: no-target
        listener: 7
        till: 1
        till: 3
        remote: item 7 from mail
        remote: 3 euro
        remote: not-remote
        remote: found by chance, 1.0
        remote: found by mail, 2.0
        local: page of app://pages/a/b
        running ["log", "RoutingPlugin.RoutingModule"]

        """)
  }

  @Test func theFileShowsTheSame() throws {
    let lines = try SectionDump.read(try Self.plugin.get()).records.map(\.line).sorted()
    #expect(lines.contains { $0.contains("target till → RoutingPlugin.Till") })
    #expect(
      lines.contains {
        $0.contains(
          "action=remote price(sku: String, currency: Currency = euro, count: Int?) "
            + "async throws -> String"
        )
      }, "\(lines)")
    #expect(
      lines.contains {
        $0.contains("route app://shop/:id<Int>?from → show") && $0.contains("remote=true")
      })
  }
}
