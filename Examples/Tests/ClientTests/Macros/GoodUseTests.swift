import Testing

/// The places and arguments that the macros allow: each use compiles, and its entry says what was written.
@Suite struct GoodUseTests {
  private struct Use {
    /// The declaration, annotated.
    var source: String
    /// The entry, as `section-dump` shows it; several in lines.
    var line: String

    /// Returns a service whose entry says no more than its name.
    static func service(
      _ argument: String, as name: String = "Greeter", by type: String, _ declaration: String
    ) -> Use {
      Use(
        source: "@BeeHiveService(\(argument)) \(declaration)",
        line: "service \(name) → \(type) 0")
    }

    /// Returns a service with this body.
    static func body(_ type: String, _ body: String) -> Use {
      .service("(any Greeter).self", by: "Shop.\(type)", "struct \(type): Greeter {\n\(body)\n}")
    }
  }

  private static let prelude = """
    import BeeHive
    import BeeHiveAnnotations
    import BeeHiveRouting

    protocol Greeter {}
    enum Shade: Int, URLConvertible { case light = 1, dark }
    typealias ID = Int
    enum Base { protocol Greeter {} }
    protocol Cache<Key, Value> { associatedtype Key; associatedtype Value }
    protocol `default` {}
    class Ancestor { init() {} }
    class Box<Content> { init() {} }
    enum Languages { enum European {} }
    enum Outer { enum Shop {} }
    @propertyWrapper struct Wrapper { var wrappedValue = 1 }

    """

  /// The service keeps its name as it was written.
  private static let names: [Use] = [
    .service(
      "(any Base.Greeter).self", as: "Base.Greeter", by: "Shop.Danish",
      "struct Danish: Base.Greeter {}"),
    .service(
      "(any Cache<Int,  String>).self", as: "Cache<Int, String>", by: "Shop.Dutch",
      "struct Dutch: Cache { typealias Key = Int; typealias Value = String }"),
    .service(
      "(any Greeter & Sendable).self", as: "Greeter & Sendable", by: "Shop.Swedish",
      "struct Swedish: Greeter {}"),
    .service("Ancestor.self", as: "Ancestor", by: "Shop.Finnish", "class Finnish: Ancestor {}"),
    .service(
      "Box<any Greeter>.self", as: "Box<any Greeter>", by: "Shop.Polish",
      "class Polish: Box<any Greeter> {}"),
    .service(
      "(any `default`).self", as: "default", by: "Shop.Czech", "struct Czech: `default` {}"),
  ]

  /// A type is named with the types around it, and the module once.
  private static let places: [Use] = [
    Use(
      source: """
        extension Languages.European {
          enum West {
            @BeeHiveService((any Greeter).self)
            private struct `default`: Greeter {}
          }
        }
        """,
      line: "service Greeter → Shop.Languages.European.West.default 0"),
    Use(
      source:
        "extension Outer.Shop {\n@BeeHiveService((any Greeter).self)\nstruct Irish: Greeter {}\n}",
      line: "service Greeter → Shop.Outer.Shop.Irish 0"),
    Use(
      source:
        "extension Shop.Outer {\n@BeeHiveService((any Greeter).self)\nstruct Welsh: Greeter {}\n}",
      line: "service Greeter → Shop.Outer.Welsh 0"),
  ]

  /// The forms of an `init()` that can be called.
  private static let initializers: [Use] = [
    .body("A", "init() {}"), .body("B", "private init() {}"),
    .body("C", "init(language: String = \"en\") {}"), .body("D", "init(_ all: Int...) {}"),
    .body("E", "init(a: Int) {}; init() {}"), .body("F", "init() throws(Never) {}"),
    .body("G", "let a = 1"), .body("H", "var a: Int?"), .body("I", "var a: Int { 1 }"),
    .body("J", "static let a: Int = 1"), .body("K", "lazy var a = 1"),
    .body("L", "@Wrapper var a: Int"),
    .body("M", "#if DEBUG\ninit() {}\n#endif"),
    .service(
      "(any Greeter).self", by: "Shop.N",
      "@MainActor final class N: Greeter { nonisolated init() {} }"),
  ]

  /// Every argument becomes an attribute.
  private static let arguments = [
    Use(
      source:
        "@BeeHiveService((any Greeter).self, name: \"en\", scope: .singleton, priority: -0x10)\n"
        + "actor English: Greeter {}",
      line: "service Greeter → Shop.English -16 scope=singleton name=en"),
    Use(source: "@BeeHiveModule struct Till: Module {}", line: "module Shop.Till → – 0"),
    Use(
      source: "@BeeHiveModule(name: \"shop\") struct Counter: Module {}",
      line: "module shop → Shop.Counter 0"),
    Use(
      source: "@BeeHiveService((any Greeter).self, name: \"a\")\n"
        + "@BeeHiveService((any Greeter).self, name: \"b\", scope: .weak) actor Sami: Greeter {}",
      line: "service Greeter → Shop.Sami 0 name=a\nservice Greeter → Shop.Sami 0 scope=weak name=b"),
    Use(
      source: "@BeeHiveService((any Greeter).self, Ancestor.self, name: \"c\", scope: .weak)\n"
        + "final class Basque: Ancestor, Greeter {}",
      line: "service Greeter → Shop.Basque 0 scope=weak name=c shared=Greeter c\n"
        + "service Ancestor → Shop.Basque 0 scope=weak name=c shared=Greeter c"),
    Use(
      source: "@BeeHiveModule(level: .basic, priority: 1_000, requires: \"log\", "
        + "after: [\"audio\", #\"b\"#])\nstruct Shelf: Module {}",
      line: "module Shop.Shelf → – 1000 level=basic requires=log after=audio,b"),
  ]

  /// Lookups of a type while it is made, and of a module at any time, are needs. Optional lookups are not.
  private static let needs = [
    Use(
      source: """
        protocol One: Sendable {}; protocol Two: Sendable {}; protocol Three: Sendable {}; protocol Four: Sendable {}
        protocol Other: Sendable {}
        @BeeHiveService((any Greeter).self, needs: ["One", "Written"]) final class Ladin: Greeter {
          let a: any One = try! Hive.process.service()
          let b: (any Two)
          static let shared = try? Hive.process.service((any Other).self)
          lazy var late: any Other = try! Hive.process.service()
          var other: (any Other)?
          let later: () -> Void = { _ = try! Hive.process.service((any Other).self) }
          init(hive: Hive = .process, c: any Three = try! Hive.process.service()) {
            self.b = try! hive.service()
            do { _ = try hive.service((any Four).self) } catch {}
            other = try? hive.service()
            other = try! hive.service((any Other).self, name: "other")
            other = try! hive.makeScope().service((any Other).self)
          }
          func ask(_ hive: Hive) throws { _ = try hive.service((any Other).self) }
        }
        """, line: "service Greeter → Shop.Ladin 0 needs=One,Written,Three,Two,Four"),
    Use(
      source: """
        @BeeHiveModule struct Counted: Module {
          func setUp(_ context: Context) async throws {
            let a: any One = try context.hive.service()
            _ = (a, try await context.hive.load((any Two).self))
          }
        }
        """, line: "module Shop.Counted → – 0 needs=One,Two"),
  ]

  @Test func everyUseIsAnEntry() throws {
    try Self.expect(Self.names + Self.places + Self.initializers + Self.arguments + Self.needs)
  }

  /// A function whose types are those of its pattern, or others that the macro does not know.
  private static let routes: [Use] = [
    ("/a/:id<Int>", "id: Int64"), ("/b/:id<int>", "id: ID"), ("/c/:id<Int>", "id: Shade"),
    ("/d/:x<Double>(/:y<Float>)", "x: Float, y: Swift.Double?"), ("/e/:at<UUID>", "at: UUIDValue"),
    ("/f/:rest<Path>", "rest: String"), ("/g/*names", "names: [String]"), ("/h/:n", "n: Int"),
    ("/i/:when<Month>", "when: String"), ("/j?k&n<Int>=1&m<Int?>", "k: String?, n: Int, m: Int?"),
    ("/k?from", "from name: String = \"chance\""), ("/l?from", "from: Optional<String>"),
  ].enumerated().map { index, route in
    Use(
      source: "@Route(\"\(route.0)\", .remote) func route\(index)(\(route.1)) {}",
      line: "route \(route.0) → route\(index) 0 remote=true")
  }

  @Test func `A route takes what its pattern gives, in the types of both`() throws {
    try Self.expect(Self.routes)
  }

  /// A parameter that only callers of this process give may be a function.
  @Test func `A closure may be a parameter that no URL has to give`() throws {
    try Self.expect([
      Use(
        source: """
          @Target("pump") struct Pump: Target {
            @Action(.remote) func fill(count: Int, done: (@Sendable (Int) -> Void)?) {}
            @Action func empty(done: @escaping @Sendable () -> Void) {}
          }
          """,
        line: "target pump → Shop.Pump 0 action=remote fill(count: Int, done: "
          + "(@Sendable (Int) -> Void)?) action=empty(done: @Sendable () -> Void)")
    ])
  }

  /// A type may be called like its module.
  @Test func theModuleIsNamedOnce() throws {
    try Self.expect([
      Use(
        source: "enum Shop {\n@BeeHiveService((any Greeter).self)\nstruct Irish: Greeter {}\n}",
        line: "service Greeter → Shop.Shop.Irish 0"),
      Use(
        source:
          "extension Shop {\n@BeeHiveService((any Greeter).self)\nstruct Welsh: Greeter {}\n}",
        line: "service Greeter → Shop.Shop.Welsh 0"),
    ])
  }

  private static func expect(
    _ uses: [Use], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let source = prelude + uses.map { $0.source + "\n" }.joined()
    let file = try SectionDump.read(try SwiftCompiler.plugin(source, .debug))
    #expect(file.problems == 0, sourceLocation: sourceLocation)
    #expect(
      file.records.map(\.line).sorted()
        == uses.flatMap { $0.line.split(separator: "\n").map(String.init) }.sorted(),
      sourceLocation: sourceLocation)
  }
}
