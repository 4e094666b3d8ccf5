import Foundation
import Testing

/// What the compiler says to an author: the refusals that need types, at the line of the type, and
/// those of the macros on their way through the compiler.
@Suite struct CompilerRefusalTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// What the author wrote, behind the imports and the protocols `Greeter` and `Local`.
    var source: String
    var mode = SwiftCompiler.Mode.debug
    var arguments: [String] = []
    /// `line:column: error: message` of every error, in order of place.
    var errors: [String]
  }

  private static let service = "@BeeHiveService((any Greeter).self)\n"

  static let cases = [
    Case(
      testDescription: "a service that does not conform",
      source: service + "final class English { init() {} }",
      errors: ["2:5: error: return expression of type 'English' does not conform to 'Greeter'"]),
    Case(
      testDescription: "a service that is another class",
      source: "class Base { init() {} }\n@BeeHiveService(Base.self)\nfinal class English {}",
      errors: [
        "3:5: error: cannot convert return expression of type 'English' to return type 'Base'"
      ]),
    Case(
      testDescription: "a module that does not conform",
      source: "@BeeHiveModule\nstruct Shop {}",
      errors: ["2:5: error: return expression of type 'Shop' does not conform to 'Module'"]),
    Case(
      testDescription: "a generic type",
      source: service + "struct English<T>: Greeter {}",
      errors: [
        "2:15: error: 'English' is generic, and an entry has no type arguments; annotate a type "
          + "that is not, or register a factory with hive.register (from macro 'BeeHiveService')"
      ]),
    Case(
      testDescription: "a type in a generic type that only the compiler knows as such",
      source: "extension Array {\n" + service + "struct English: Greeter {}\n}",
      errors: [
        "attribute @section cannot be used in a generic context",
        "attribute @used cannot be used in a generic context",
        "static stored properties not supported in generic types",
      ]),
    Case(
      testDescription: "an inherited initialiser that takes something",
      source: "class Base { init(a: Int) {} }\n@BeeHiveService((any Local).self)\n"
        + "class English: Base, Local {}",
      errors: ["3:13: error: missing argument for parameter 'a' in call"]),
    Case(
      testDescription: "an inherited initialiser that throws",
      source: "class Base { init() throws {} }\n@BeeHiveService((any Local).self)\n"
        + "class English: Base, Local {}",
      errors: [
        "3:5: error: call can throw, but it is not marked with 'try' and the error is not handled"
      ]),
    Case(
      testDescription: "a type that its protocol puts on the main actor",
      source: "@MainActor protocol View {}\n" + service
        + "final class English: View, Greeter { init() {} }",
      errors: [
        "3:5: error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated "
          + "context"
      ]),
    Case(
      testDescription: "the same in Swift 5",
      source: "@MainActor protocol View {}\n" + service
        + "final class English: View, Greeter { init() {} }",
      mode: .swift5,
      errors: [
        "3:5: error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated "
          + "context"
      ]),
    Case(
      testDescription: "a module whose default is the main actor",
      source: service + "final class English: Greeter { init() {} }",
      arguments: ["-default-isolation", "MainActor"],
      errors: [
        "2:5: error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated "
          + "context"
      ]),
    Case(
      testDescription: "a conformance that holds on the main actor alone",
      source: "@BeeHiveService((any Local).self)\n"
        + "@MainActor final class English: @MainActor Local { nonisolated init() {} }",
      errors: [
        "2:5: error: main actor-isolated conformance of 'English' to 'Local' cannot be used in "
          + "nonisolated context"
      ]),
    Case(
      testDescription: "a type on the main actor",
      source: service + "@MainActor final class English: Greeter { init() {} }",
      errors: [
        "2:43: error: init() of 'English' belongs to MainActor, and any thread may ask; make it "
          + "nonisolated, or register a factory with hive.register instead (from macro "
          + "'BeeHiveService')"
      ]),
    Case(
      testDescription: "a module twice",
      source: "@BeeHiveModule\n@BeeHiveModule\nstruct Shop: Module {}",
      errors: [
        "2:1: error: 'Shop' is a module already; remove one annotation (from macro 'BeeHiveModule')"
      ]),
    Case(
      testDescription: "a priority that is computed",
      source: "let p = 1\n@BeeHiveModule(priority: p)\nstruct Shop: Module {}",
      errors: [
        "2:26: error: priority must be an integer literal: an entry is a constant (from macro "
          + "'BeeHiveModule')"
      ]),
    Case(
      testDescription: "an extension",
      source: "struct English: Greeter {}\n" + service + "extension English {}",
      errors: [
        "2:1: error: @BeeHiveService belongs to the declaration of a class, an actor, a struct or "
          + "an enum (from macro 'BeeHiveService')"
      ]),
  ]

  @Test(arguments: cases)
  func isRefused(refused: Case) throws {
    let source =
      "import BeeHive; import BeeHiveAnnotations; protocol Greeter: Sendable {}; protocol Local {}; "
      + refused.source
    let object = SwiftCompiler.folder.appending(path: "refused.o").path()
    let outcome = try SwiftCompiler.compile(
      source, refused.mode, refused.arguments + ["-c", "-o", object])
    let lines = outcome.errors.split(separator: "\n").map(String.init)
    #expect(lines.compactMap(Self.error).sorted() == refused.errors, "\(outcome.errors)")
    #expect(outcome.status != 0)
  }

  /// The error in a line of the compiler: with its place, if that is in the author's file.
  private static func error(in line: String) -> String? {
    guard let mark = line.firstRange(of: ": error: ") else { return nil }
    let file = line.firstRange(of: "/Shop.swift:")
    var error = String(line[(file?.upperBound ?? mark.upperBound)...])
    // The name of a group of diagnostics.
    if let group = error.firstRange(of: " [#") { error.removeSubrange(group.lowerBound...) }
    return error
  }
}
