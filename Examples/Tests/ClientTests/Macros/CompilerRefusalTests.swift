import Foundation
import Testing

/// The compiler's errors for an author. Refusals that need types are here: a missing conformance at the line of the
/// annotation, others at the line of the type. So are refusals of the macros in a module with other settings.
@Suite struct CompilerRefusalTests {
  /// The settings of the author's module.
  enum Settings: String, CaseIterable, Sendable {
    case usual
    case swift5
    case mainActor

    var mode: SwiftCompiler.Mode { self == .swift5 ? .swift5 : .debug }
    var arguments: [String] { self == .mainActor ? ["-default-isolation", "MainActor"] : [] }
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// The author's code, after the imports and the protocols `Greeter` and `Local`. The cases of the same settings are
    /// one file, so each has type names of its own.
    var source: String
    var settings = Settings.usual
    /// `line:column: error: message` of every error, in order of place.
    var errors: [String]
  }

  private static let prelude = """
    import BeeHive
    import BeeHiveAnnotations
    import BeeHiveRouting
    protocol Greeter: Sendable {}
    protocol Local {}
    struct Order: Sendable {}

    """

  private static let service = "@BeeHiveService((any Greeter).self)\n"

  static let cases = entries + routing

  private static let entries = [
    Case(
      testDescription: "a service that does not conform",
      source: service + "final class English { init() {} }",
      errors: ["1:12: error: return expression of type 'English' does not conform to 'Greeter'"]),
    Case(
      testDescription: "a service that is another class",
      source: "class French { init() {} }\n@BeeHiveService(French.self)\nfinal class German {}",
      errors: [
        "2:12: error: cannot convert return expression of type 'German' to return type 'French'"
      ]),
    Case(
      testDescription: "a module that does not conform",
      source: "@BeeHiveModule\nstruct Till {}",
      errors: ["1:12: error: return expression of type 'Till' does not conform to 'Module'"]),
    Case(
      testDescription: "a generic type",
      source: service + "struct Italian<T>: Greeter {}",
      errors: [
        "2:15: error: 'Italian' is generic, and an entry has no type arguments; annotate a type "
          + "that is not, or register a factory with hive.register (from macro 'BeeHiveService')"
      ]),
    Case(
      testDescription: "a type in a generic type that only the compiler knows as such",
      source: "extension Array {\n" + service + "struct Spanish: Greeter {}\n}",
      errors: [
        "error: attribute @section cannot be used in a generic context",
        "error: attribute @used cannot be used in a generic context",
        "error: static stored properties not supported in generic types",
      ]),
    Case(
      testDescription: "an inherited initialiser that takes something",
      source: "class Dutch { init(a: Int) {} }\n@BeeHiveService((any Local).self)\n"
        + "class Flemish: Dutch, Local {}",
      errors: ["3:30: error: missing argument for parameter 'a' in call"]),
    Case(
      testDescription: "a property without a value",
      source: service + "struct Latvian: Greeter {\n  let language: String\n}",
      errors: ["2:30: error: missing argument for parameter 'language' in call"]),
    Case(
      testDescription: "an inherited initialiser that throws",
      source: "class Danish { init() throws {} }\n@BeeHiveService((any Local).self)\n"
        + "class Norwegian: Danish, Local {}",
      errors: [
        "3:24: error: call can throw, but it is not marked with 'try' and the error is not handled"
      ]),
    Case(
      testDescription: "two initialisers, of which the compiler takes the one that throws",
      source: service + "struct Swedish: Greeter { init() throws {}; init(a: Int = 1) {} }",
      errors: [
        "2:22: error: call can throw, but it is not marked with 'try' and the error is not handled"
      ]),
    Case(
      testDescription: "a type that its protocol puts on the main actor",
      source: "@MainActor protocol View {}\n" + service
        + "final class Finnish: View, Greeter { init() {} }",
      errors: [
        "3:22: error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated "
          + "context"
      ]),
    Case(
      testDescription: "the same in Swift 5",
      source: "@MainActor protocol View {}\n" + service
        + "final class Finnish: View, Greeter { init() {} }",
      settings: .swift5,
      errors: [
        "3:22: error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated "
          + "context"
      ]),
    Case(
      testDescription: "a module whose default is the main actor",
      source: service + "final class Finnish: Greeter { init() {} }",
      settings: .mainActor,
      errors: [
        "2:22: error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated "
          + "context"
      ]),
    Case(
      testDescription: "a conformance that holds on the main actor alone",
      source: "@BeeHiveService((any Local).self)\n"
        + "@MainActor final class Polish: @MainActor Local { nonisolated init() {} }",
      errors: [
        "1:12: error: main actor-isolated conformance of 'Polish' to 'Local' cannot be used in "
          + "nonisolated context"
      ]),
    Case(
      testDescription: "a type on the main actor",
      source: service + "@MainActor final class Russian: Greeter { init() {} }",
      errors: [
        "2:43: error: init() of 'Russian' belongs to MainActor, and any thread may ask; make it "
          + "nonisolated, or register a factory with hive.register instead (from macro "
          + "'BeeHiveService')"
      ]),
    Case(
      testDescription: "a module twice",
      source: "@BeeHiveModule\n@BeeHiveModule\nstruct Shelf: Module {}",
      errors: [
        "2:1: error: 'Shelf' is a module already; remove one annotation (from macro "
          + "'BeeHiveModule')"
      ]),
    Case(
      testDescription: "a service twice",
      source: service + service + "struct Estonian: Greeter {}",
      errors: [
        "2:1: error: 'Estonian' offers Greeter already; remove one annotation, or give it a name of "
          + "its own (from macro 'BeeHiveService')"
      ]),
    Case(
      testDescription: "a service that does not conform, its annotation apart from the name",
      source: "enum Hall {\n" + service + "@available(*, deprecated)\npublic\nstruct Latvian {}\n}",
      errors: [
        "2:12: error: return expression of type 'Hall.Latvian' does not conform to 'Greeter'"
      ]),
    Case(
      testDescription: "a priority that is computed",
      source: "let p = 1\n@BeeHiveModule(priority: p)\nstruct Crate: Module {}",
      errors: [
        "2:26: error: priority must be an integer literal of 32 bits: an entry is a constant (from macro "
          + "'BeeHiveModule')"
      ]),
    Case(
      testDescription: "an extension",
      source: "struct Turkish: Greeter {}\n" + service + "extension Turkish {}",
      errors: [
        "2:1: error: @BeeHiveService belongs to the declaration of a class, an actor, a struct or "
          + "an enum (from macro 'BeeHiveService')"
      ]),
  ]

  /// Each of these mistakes is one error, whatever else of the declaration depends on it.
  static let routing = [
    Case(
      testDescription: "a remote action that takes what no URL can hold",
      source:
        "@Target(\"a\") struct Barrow: Target {\n  @Action(.remote) func a(order: Order) {}\n}",
      errors: [
        "2:55: error: initializer 'init(url:_:)' requires that 'Order' conform to 'URLConvertible'"
      ]),
    Case(
      testDescription: "a remote route that takes what no URL can hold",
      source: "\n@Route(\"/lane/:order\", .remote)\nfunc lane(order: Order) {}",
      errors: [
        "3:34: error: subscript 'subscript(url:)' requires that 'Order' conform to 'URLConvertible'"
      ]),
    Case(
      testDescription: "a default in a facade",
      source: "@Facade(\"y\") protocol Front { func a(n: Int = 1) async throws }",
      errors: ["1:31: error: default argument not permitted in a protocol method"]),
  ]

  private static let found = Dictionary(
    uniqueKeysWithValues: Settings.allCases.map { settings in
      (
        settings,
        Result {
          try Diagnostics.of(
            cases.filter { $0.settings == settings }.map(\.source), behind: prelude,
            settings.mode, settings.arguments)
        }
      )
    })

  @Test(arguments: cases.indices)
  func isRefused(index: Int) throws {
    let refused = Self.cases[index]
    let place = Self.cases[..<index].count { $0.settings == refused.settings }
    let found = try #require(Self.found[refused.settings]?.get()[place])
    #expect(found.errors.sorted() == refused.errors, "\(refused.testDescription)")
  }

  #if !SWIFTPM_PLUGIN
    @Test("another compiler than the library was built for is refused in one sentence")
    func anotherCompiler() throws {
      // As if that compiler's SwiftSyntax had been changed at another time.
      var bytes = try Data(contentsOf: MacroPlugin.library.get())
      let found = try #require(bytes.range(of: Data(" bytes, changed at 1".utf8)))
      bytes[found.upperBound - 1] = UInt8(ascii: "0")
      let library = try Folder().write(bytes, as: "libBeeHiveAnnotationsPlugin.so")
      let outcome = try SwiftCompiler.compile(
        Self.prelude + Self.service + "struct Welsh: Greeter {}", .debug,
        ["-parse-as-library", "-typecheck", "-load-plugin-library", library.path]
          + MacroPlugin.parts.get().toCompile.prefix(2))
      let errors = outcome.errors.split(separator: "\n").filter { $0.contains(": error: ") }
      #expect(errors.count == 1, "\(outcome)")
      #expect(
        errors.first?.contains("the macros' library was built for Swift version") == true
          && errors.first?.contains("build it anew: swift package beehive-macros") == true)
    }
  #endif
}
