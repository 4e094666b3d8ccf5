import Testing

/// A use of a macro that the macro refuses by the look of the source, and the place of its message.
///
/// `RefusedUseTests` compiles the same uses, all as one file, so each has a type name of its own. `Tests/Annotations`
/// expands them with every swift-syntax that the macros are for.
struct RefusedUse: CustomTestStringConvertible, Sendable {
  /// A problem that the macro finds, with its place in the source.
  struct Problem: Sendable {
    var line: Int
    var column: Int
    var message: String
  }

  var source: String
  var problems: [Problem]
  /// The compiler's additional errors, as `line:column: error: message`.
  var besides: [String] = []

  var testDescription: String { problems.map(\.message).joined(separator: "; ") }

  init(
    _ source: String, _ message: String, _ line: Int, _ column: Int, besides: [String] = []
  ) {
    self.source = source
    self.problems = [Problem(line: line, column: column, message: message)]
    self.besides = besides
  }

  init(_ source: String, problems: [Problem]) {
    self.source = source
    self.problems = problems
  }

  /// A name of 256 bytes, which no entry can hold.
  static let long = String(repeating: "n", count: 256)

  /// The imports and declarations that the uses refer to.
  static let prelude = """
    import BeeHive
    import BeeHiveAnnotations
    import BeeHiveRouting

    protocol Greeter: Sendable {}
    struct English: Greeter {}
    protocol Local {}
    struct Trouble: Error {}
    protocol _\(long.dropFirst()) {}
    enum Level { static let first = AnnotatedLevel.basic }
    let kind = (any Greeter).self
    let scope = AnnotatedScope.weak
    let language = "en"
    let names: AnnotatedNames = "log"
    let number = 1

    """
}

extension RefusedUse {
  private static let service = "@BeeHiveService((any Greeter).self)\n"
  private static let factory = "register a factory with hive.register instead"

  /// Annotations of modules and services.
  static let entries = declarations + initializers + arguments

  private static let declarations = [
    Self(
      service + "extension English {}",
      "@BeeHiveService belongs to the declaration of a class, an actor, a struct or an enum", 1, 1
    ),
    Self(
      service + "protocol Tongue {}",
      "@BeeHiveService belongs to the declaration of a class, an actor, a struct or an enum", 1, 1
    ),
    Self(
      service + "struct Box<Value> {}",
      "'Box' is generic, and an entry has no type arguments; annotate a type that is not, or "
        + "register a factory with hive.register", 2, 11),
    Self(
      "@BeeHiveModule\nstruct Bag<Value> {}",
      "'Bag' is generic, and an entry has no type arguments; annotate a type that is not, or "
        + "call hive.register(module:)", 2, 11),
    Self(
      "struct Case<Value> {\n  enum Inner {\n    @BeeHiveService((any Greeter).self)\n"
        + "    struct Danish {}\n  }\n}",
      "'Danish' is inside 'Case', which is generic, and an entry has no type arguments; "
        + "annotate a type that is not, or register a factory with hive.register", 4, 12),
    Self(
      "func hall() {\n  @BeeHiveService((any Greeter).self)\n  struct Latvian: Greeter {}\n}",
      "'Latvian' is declared inside a function, and an entry needs a name that others can use; move "
        + "it to the file's top level or into a type", 2, 3),
    Self(
      "struct Hall {\n  init() {\n    @BeeHiveModule\n    struct Stage: Module {}\n  }\n}",
      "'Stage' is declared inside a function, and an entry needs a name that others can use; move it "
        + "to the file's top level or into a type", 3, 5),
    Self(
      service + "struct \(long) {}",
      "the name 'Shop.\(long)' is 261 bytes long; an entry's names have at most 255", 2, 8),
  ]

  private static let initializers = [
    Self(
      service + "enum Swedish { case one }",
      "'Swedish' needs an init() without arguments in its body: a lookup has none to "
        + "give; write it, or \(factory)", 2, 6),
    Self(
      service + "class Italian { init() throws {} }",
      "init() of 'Italian' throws, but no caller catches its errors; \(factory)", 2, 24),
    Self(
      "@BeeHiveModule\nstruct Till { init() throws(Trouble) {} }",
      "init() of 'Till' throws, but no caller catches its errors; do that work in setUp instead", 2,
      22),
    Self(
      service + "actor Spanish { init() async {} }",
      "init() of 'Spanish' is async, but its caller does not wait; \(factory)", 2, 24),
    Self(
      service + "struct Catalan { init?() {} }",
      "init() of 'Catalan' may return nil, but an entry needs an instance; \(factory)", 2, 22),
    Self(
      service + "class Maltese { @MainActor init() {} }",
      "init() of 'Maltese' belongs to MainActor, and any thread may ask; make it nonisolated, or "
        + factory, 2, 17),
    Self(
      service + "@MainActor class Russian { public init() {} }",
      "init() of 'Russian' belongs to MainActor, and any thread may ask; make it nonisolated, or "
        + factory, 2, 35),
  ]

  private static let arguments = [
    Self(
      "@BeeHiveService(kind)\nstruct Polish {}",
      "name the service as a type, as in (any Greeter).self: the entry carries its name", 1, 17),
    Self(
      "@BeeHiveService((any Greeter).self, (any Greeter).self)\nstruct Moravian {}",
      "'Moravian' offers Greeter already; remove one", 1, 1),
    Self(
      "@BeeHiveService((any _\(long.dropFirst())).self)\nstruct Slovak {}",
      "the service is 256 bytes long; an entry's names have at most 255", 1, 17),
    Self(
      "@BeeHiveService((any Greeter).self, scope: scope)\nstruct Croatian {}",
      "scope must be one of .transient, .singleton, .weak, .scoped, written out here", 1, 44),
    Self(
      "@BeeHiveService((any Greeter).self, scope: .weak)\nstruct Bosnian {}",
      "weak is for a class or an actor: a value is copied, not shared; write "
        + ".transient or .singleton", 1, 44),
    Self(
      "@BeeHiveService((any Greeter).self, scope: .weak)\nenum Romansh { case one; init() { self = .one } }",
      "weak is for a class or an actor: a value is copied, not shared; write "
        + ".transient or .singleton", 1, 44),
    Self(
      "@BeeHiveService((any Greeter).self, name: \"\\(language)\")\nstruct Slovene {}",
      "name must be a string literal without interpolation: an entry is a constant", 1, 43),
    Self(
      "@BeeHiveService((any Greeter).self, name: \"\")\nstruct Serbian {}",
      "name must not be empty", 1, 43),
    Self(
      "@BeeHiveService((any Greeter).self, name: \"a\\0b\")\nstruct Greek {}",
      "name holds a control character; remove it", 1, 43),
    Self(
      "@BeeHiveModule(name: \"\")\nstruct Zeroth {}", "name must not be empty", 1, 22),
    Self(
      "@BeeHiveModule(level: Level.first)\nstruct First {}",
      "level must be one of .basic, .normal, written out here", 1, 23),
    Self(
      "@BeeHiveModule(priority: 1 + 1)\nstruct Second {}",
      "priority must be an integer literal of 32 bits: an entry is a constant", 1, 26),
    Self(
      "@BeeHiveModule(priority: 2_147_483_648)\nstruct Third {}",
      "priority must be an integer literal of 32 bits: an entry is a constant", 1, 26),
    Self(
      "@BeeHiveModule(requires: names)\nstruct Fourth {}",
      "requires must be a string literal without interpolation: an entry is a constant", 1, 26),
    Self(
      "@BeeHiveModule(after: [\"log\", \"\(long)\"])\nstruct Fifth {}",
      "after is 256 bytes long; an entry's names have at most 255", 1, 31),
  ]

  /// A use with several problems: all are reported, not only the first.
  static let several = Self(
    "@BeeHiveModule(priority: number, requires: names)\n"
      + "struct Sixth<T> { init() async throws {} }",
    problems: [
      Problem(
        line: 1, column: 26,
        message: "priority must be an integer literal of 32 bits: an entry is a constant"),
      Problem(
        line: 1, column: 44,
        message: "requires must be a string literal without interpolation: an entry is a constant"),
      Problem(
        line: 2, column: 13,
        message: "'Sixth' is generic, and an entry has no type arguments; annotate a type that is "
          + "not, or call hive.register(module:)"),
      Problem(
        line: 2, column: 32,
        message: "init() of 'Sixth' throws, but no caller catches its errors; do that work in "
          + "setUp instead"),
    ])
}
