import Testing

@Suite(.comparesRecords) struct EntryMacroTests {
  /// Expects the members that an annotation adds to a type with this body.
  private func expectEntry(
    _ annotation: String = "@BeeHiveService((any Greeter).self)",
    in type: String = "struct English: Greeter", body: String = "",
    as made: String = "(any Greeter)",
    kind: Int = 2, text: [String] = ["Greeter", "Shop.English"],
    instead: String = "register a factory with hive.register instead"
  ) {
    let line = annotation.split(separator: "\n").count + 1
    let name = String(type.split(separator: ":")[0].split(separator: " ").last ?? "")
    let body = body.isEmpty ? "" : "\n  \(body)"
    expectExpansion(
      of: "\(annotation)\n\(type) {\(body)\n}",
      """
      \(type) {\(body)
      \(members(name, line: line, as: made, kind: kind, text, annotation: 1, instead: instead))
      }
      """)
  }

  @Test(arguments: [
    ("", ["Shop.ShopModule", ""]), ("(name: \"shop\")", ["shop", "Shop.ShopModule"]),
    (
      "(\n  version: \"1.2\", level: .basic, priority: 1_000, requires: \"log >=1 <2\", "
        + "after: [\"audio\", #\"b\"#])",
      [
        "Shop.ShopModule", "", "version=1.2", "level=basic", "priority=1000", "requires=log >=1 <2",
        "after=audio", "after=b",
      ]
    ),
  ])
  func aModuleIsNamedAsTheOtherWaysOfRegistrationNameIt(arguments: String, text: [String]) {
    expectEntry(
      "@BeeHiveModule" + arguments, in: "struct ShopModule: Module", as: "any BeeHive.Module",
      kind: 1, text: text, instead: "do that work in setUp instead")
  }

  @Test func aPluginIsAConstantThatMakesNothing() {
    let text = [
      "com.example.greet", "", "version=1.4.2", "name=Greetings", "licence=MIT",
      "homepage=https://example.com", "icon=greet", "name[de]=Gruss", "name[fr]=Salut",
    ]
    expectExpansion(
      of: """
        @BeeHivePlugin("com.example.greet", "1.4.2", name: "Greetings", names: ["de": "Gruss", "fr": "Salut"],
          licence: "MIT", homePage: "https://example.com", icon: "greet")
        enum Greet {
        }
        """,
      """
      enum Greet {

      \(constant(5, text, "{ _, _, _, _ in\n      false\n    }"))
      }
      """)
  }

  @Test func everyArgumentOfAServiceBecomesAnAttribute() {
    expectEntry(
      "@BeeHiveService((any Greeter).self, name: \"en\", scope: .singleton, priority: -0x10)",
      in: "actor English: Greeter",
      text: ["Greeter", "Shop.English", "name=en", "scope=singleton", "priority=-16"])
  }

  @Test(arguments: [
    ("(any Greeter).self", "(any Greeter)", "Greeter"),
    ("(any Base.Greeter).self", "(any Base.Greeter)", "Base.Greeter"),
    ("(any Cache<Int,  String>).self", "(any Cache<Int,  String>)", "Cache<Int, String>"),
    ("(any Greeter & Sendable).self", "(any Greeter & Sendable)", "Greeter & Sendable"),
    ("Greeter.self", "Greeter", "Greeter"),
    ("Box<any Greeter>.self", "Box<any Greeter>", "Box<any Greeter>"),
    ("(any `default`).self", "(any `default`)", "default"),
  ])
  func theServiceKeepsItsNameAsWritten(argument: String, type: String, name: String) {
    expectEntry(
      "@BeeHiveService(\(argument))", in: "struct English", as: type, text: [name, "Shop.English"])
  }

  @Test func aNestedTypeIsNamedWithTheTypesAroundIt() {
    expectExpansion(
      of: """
        extension Languages.European {
          enum West {
            @BeeHiveService((any Greeter).self)
            private struct `default`: Greeter {
            }
          }
        }
        """,
      """
      extension Languages.European {
        enum West {
          private struct `default`: Greeter {
      \(members(
        "`default`", line: 4, as: "(any Greeter)", kind: 2,
        ["Greeter", "Shop.Languages.European.West.default"]).indented(by: 4))
          }
        }
      }
      """)
  }

  /// A type may have the name of its module.
  @Test(arguments: [
    ("enum Shop", "Shop.Shop.English"), ("extension Shop", "Shop.Shop.English"),
    ("extension Shop.Outer", "Shop.Outer.English"),
    ("extension Outer.Shop", "Shop.Outer.Shop.English"),
  ])
  func theModuleIsNamedOnce(around: String, name: String) {
    expectExpansion(
      of: """
        \(around) {
          @BeeHiveService((any Greeter).self)
          struct English {
          }
        }
        """,
      """
      \(around) {
        struct English {
      \(members("English", line: 3, as: "(any Greeter)", kind: 2, ["Greeter", name]).indented(by: 2))
        }
      }
      """)
  }

  /// Bodies of types that `()` makes.
  @Test(arguments: [
    "init() {}", "private init() {}", "init(language: String = \"en\") {}",
    "init(_ all: Int...) {}",
    "init(a: Int) {}; init() {}", "init() throws {}; init(a: Int = 1) {}",
    "init() throws(Never) {}",
    "let a = 1", "var a: Int?", "var a: Int { 1 }", "static let a: Int = 1", "lazy var a = 1",
    "@Wrapped var a: Int", "#if DEBUG\n  init() {}\n  #endif",
  ])
  func anInitializerThatCanBeCalledIsAccepted(body: String) { expectEntry(body: body) }

  @Test func onTheMainActorANonisolatedInitializerIsAccepted() {
    expectEntry(in: "@MainActor final class English: Greeter", body: "nonisolated init() {}")
  }
}

extension String {
  fileprivate func indented(by width: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : String(repeating: " ", count: width) + $0 }
      .joined(separator: "\n")
  }
}
