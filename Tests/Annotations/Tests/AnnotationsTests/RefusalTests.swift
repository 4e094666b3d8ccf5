import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// What the macros refuse by the look of the source, and where they say so.
@Suite struct RefusalTests {
  struct Case: CustomTestStringConvertible {
    var source: String
    var message: String
    var line: Int
    var column: Int
    var fixIt: String?
    var fixed: String?
    var testDescription: String { message }

    init(
      _ source: String, _ message: String, _ line: Int, _ column: Int, fixIt: String? = nil,
      fixed: String? = nil
    ) {
      self.source = source
      self.message = message
      self.line = line
      self.column = column
      self.fixIt = fixIt
      self.fixed = fixed
    }

    /// The source without the annotation: nothing is added to it.
    var bare: String {
      var lines = source.split(separator: "\n", omittingEmptySubsequences: false)
      lines.removeAll { $0.drop { $0 == " " }.hasPrefix("@BeeHive") }
      let text = lines.joined(separator: "\n")
      // The test support sets the brace of an expanded body on a line of its own.
      return text.hasSuffix(" }") ? text.dropLast() + "\n}" : text
    }
  }

  private static let service = "@BeeHiveService((any Greeter).self)\n"
  private static let factory = "register a factory with hive.register instead"
  private static let long = String(repeating: "n", count: 256)

  static let declarations = [
    Case(
      service + "extension English {}",
      "@BeeHiveService belongs to the declaration of a class, an actor, a struct or an enum", 1, 1
    ),
    Case(
      service + "protocol English {}",
      "@BeeHiveService belongs to the declaration of a class, an actor, a struct or an enum", 1, 1
    ),
    Case(
      service + "struct Box<Value> {}",
      "'Box' is generic, and an entry has no type arguments; annotate a type that is not, or "
        + "register a factory with hive.register", 2, 11),
    Case(
      "@BeeHiveModule\nstruct Box<Value> {}",
      "'Box' is generic, and an entry has no type arguments; annotate a type that is not, or "
        + "call hive.register(module:)", 2, 11),
    Case(
      "struct Box<Value> {\n  enum Inner {\n    @BeeHiveService((any Greeter).self)\n"
        + "    struct English {}\n  }\n}",
      "'English' stands inside 'Box', which is generic, and an entry has no type arguments; "
        + "annotate a type that is not, or register a factory with hive.register", 4, 12),
    Case(
      service + "struct \(long) {}",
      "the name 'Shop.\(long)' is 261 bytes long; an entry's names have at most 255", 2, 8),
  ]

  static let initializers = [
    Case(
      service + "enum English { case one }",
      "'English' needs an init() without arguments in its body: whoever asks for one has none to "
        + "give; write it, or \(factory)", 2, 6, fixIt: "add 'init() {}'",
      fixed: service + "enum English { init() {} case one }"),
    Case(
      service + "struct English {\n  let language: String\n}",
      "'English' needs an init() without arguments in its body: whoever asks for one has none to "
        + "give; write it, or \(factory)", 2, 8, fixIt: "add 'init() {}'",
      fixed: service + "struct English {\n  init() {}\n  let language: String\n}"),
    Case(
      service + "actor English {\n  init(language: String) {}\n}",
      "'English' needs an init() without arguments in its body: whoever asks for one has none to "
        + "give; write it, or \(factory)", 2, 7, fixIt: "add 'init() {}'",
      fixed: service + "actor English {\n  init() {}\n  init(language: String) {}\n}"),
    Case(
      service + "class English { init() throws {} }",
      "init() of 'English' throws, and nobody is there to catch; \(factory)", 2, 24),
    Case(
      "@BeeHiveModule\nstruct Shop { init() throws(Trouble) {} }",
      "init() of 'Shop' throws, and nobody is there to catch; do that work in setUp instead", 2,
      22),
    Case(
      service + "actor English { init() async {} }",
      "init() of 'English' waits, and who asks does not; \(factory)", 2, 24),
    Case(
      service + "struct English { init?() {} }",
      "init() of 'English' may return nil, and who asks wants an instance; \(factory)", 2, 22),
    Case(
      service + "class English { @MainActor init() {} }",
      "init() of 'English' belongs to MainActor, and any thread may ask; make it nonisolated, or "
        + factory, 2, 17),
    Case(
      service + "@MainActor class English { public init() {} }",
      "init() of 'English' belongs to MainActor, and any thread may ask; make it nonisolated, or "
        + factory, 2, 35, fixIt: "make it nonisolated",
      fixed: service + "@MainActor class English { nonisolated public init() {} }"),
  ]

  static let arguments = [
    Case(
      "@BeeHiveService(kind)\nstruct English {}",
      "name the service as a type, as in (any Greeter).self: the entry carries its name", 1, 17),
    Case(
      "@BeeHiveService()\nstruct English {}",
      "name what it implements: @BeeHiveService((any Greeter).self)", 1, 1),
    Case(
      "@BeeHiveService((any \(long)).self)\nstruct English {}",
      "the service is 256 bytes long; an entry's names have at most 255", 1, 17),
    Case(
      "@BeeHiveService((any Greeter).self, scope: scope)\nstruct English {}",
      "scope must be one of .transient, .singleton, .weak, .scoped, written out here", 1, 44),
    Case(
      "@BeeHiveService((any Greeter).self, name: \"\\(language)\")\nstruct English {}",
      "name must be a string literal without interpolation: an entry is a constant", 1, 43),
    Case(
      "@BeeHiveService((any Greeter).self, name: \"\")\nstruct English {}",
      "name must not be empty", 1, 43),
    Case(
      "@BeeHiveService((any Greeter).self, name: \"a\\0b\")\nstruct English {}",
      "name holds a control character; remove it", 1, 43),
    Case(
      "@BeeHiveModule(level: Level.first)\nstruct Shop {}",
      "level must be one of .basic, .normal, written out here", 1, 23),
    Case(
      "@BeeHiveModule(priority: 1 + 1)\nstruct Shop {}",
      "priority must be an integer literal: an entry is a constant", 1, 26),
    Case(
      "@BeeHiveModule(priority: 2_147_483_648)\nstruct Shop {}",
      "priority must fit into 32 bits", 1, 26),
    Case(
      "@BeeHiveModule(requires: names)\nstruct Shop {}",
      "requires must be a string literal without interpolation: an entry is a constant", 1, 26),
    Case(
      "@BeeHiveModule(after: [\"log\", \"\(long)\"])\nstruct Shop {}",
      "after is 256 bytes long; an entry's names have at most 255", 1, 31),
  ]

  @Test(arguments: declarations + initializers + arguments)
  func isRefused(refused: Case) {
    expectExpansion(
      of: refused.source, refused.bare,
      diagnostics: [
        DiagnosticSpec(
          message: refused.message, line: refused.line, column: refused.column,
          fixIts: refused.fixIt.map { [FixItSpec(message: $0)] } ?? [])
      ],
      fixed: refused.fixed)
  }

  @Test func everyProblemIsReportedAtOnce() {
    expectExpansion(
      of: "@BeeHiveModule(priority: p, requires: r)\nstruct Shop<T> { init() async throws {} }",
      "struct Shop<T> { init() async throws {} \n}",
      diagnostics: [
        DiagnosticSpec(
          message: "priority must be an integer literal: an entry is a constant", line: 1,
          column: 26),
        DiagnosticSpec(
          message:
            "requires must be a string literal without interpolation: an entry is a constant",
          line: 1, column: 39),
        DiagnosticSpec(
          message:
            "'Shop' is generic, and an entry has no type arguments; annotate a type that is "
            + "not, or call hive.register(module:)", line: 2, column: 12),
        DiagnosticSpec(
          message: "init() of 'Shop' throws, and nobody is there to catch; do that work in setUp "
            + "instead", line: 2, column: 31),
      ])
  }
}
