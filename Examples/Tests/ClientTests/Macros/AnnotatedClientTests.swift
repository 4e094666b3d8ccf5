import Foundation
import Testing

/// The entries that a host finds in `Sources/AnnotatedPlugin` of `Tests/Annotations`, loaded and as a file.
@Suite struct AnnotatedClientTests {
  private static let plugin = Result { try Client.plugin("AnnotatedPlugin") }

  @Test func theHostFindsWhatThePluginDeclares() throws {
    let outcome = try Command.run(try Client.host.get(), [try Self.plugin.get()])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output == """
        0 entries
        module AnnotatedPlugin.GreetingModule –
        service Greeter AnnotatedPlugin.English
        service Greeter AnnotatedPlugin.French
        Hello
        Bonjour
        running ["log", "AnnotatedPlugin.GreetingModule"]

        """)
  }

  /// The product `BeeHiveAnnotations` brings it: the client names no C target.
  @Test func theAnchorComesAlong() throws {
    try Anchor.expect(in: try Self.plugin.get())
  }

  @Test func theFileShowsTheSame() throws {
    #expect(
      try SectionDump.read(try Self.plugin.get()).records.map(\.line).sorted() == [
        "module AnnotatedPlugin.GreetingModule → – 0 requires=log",
        "service Greeter → AnnotatedPlugin.English 1 scope=singleton",
        "service Greeter → AnnotatedPlugin.French 0 name=fr",
      ])
  }
}
