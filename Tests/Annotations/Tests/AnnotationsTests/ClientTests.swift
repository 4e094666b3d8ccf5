import Foundation
import Testing

/// What the package manager makes of a client: `Sources/AnnotatedPlugin` and `Sources/Host`.
@Suite struct ClientTests {
  private var plugin: String {
    SwiftCompiler.products.appending(path: "libAnnotatedPlugin.so").path()
  }

  @Test func theHostFindsWhatThePluginDeclares() throws {
    let host = SwiftCompiler.products.appending(path: "Host").path()
    let outcome = try SwiftCompiler.run([host, plugin])
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
    try Anchor.expect(in: plugin)
  }

  @Test func theFileShowsTheSame() throws {
    #expect(
      try SectionDump.read(plugin).records.map(\.line).sorted() == [
        "module AnnotatedPlugin.GreetingModule → – 0 requires=log",
        "service Greeter → AnnotatedPlugin.English 1 scope=singleton",
        "service Greeter → AnnotatedPlugin.French 0 name=fr",
      ])
  }
}
