import Testing

@Suite(.comparesRecords) struct ServiceMacroTests {
  @Test func aServiceBecomesAFunctionAndAConstant() {
    expectExpansion(
      of: """
        @BeeHiveService((any Greeter).self)
        final class English: Greeter {
          init() {}
        }
        """,
      """
      final class English: Greeter {
        init() {}
      \(members("English", line: 2, as: "(any Greeter)", kind: 2, ["Greeter", "Shop.English"]))
      }
      """)
  }

  @Test func everyArgumentBecomesAnAttribute() {
    expectExpansion(
      of: """
        @BeeHiveService((any Greeter).self, name: "en", scope: .singleton, priority: -0x10)
        actor English: Greeter {
        }
        """,
      """
      actor English: Greeter {
      \(members(
        "English", line: 2, as: "(any Greeter)", kind: 2,
        ["Greeter", "Shop.English", "name=en", "scope=singleton", "priority=-16"]))
      }
      """)
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
    expectExpansion(
      of: """
        @BeeHiveService(\(argument))
        struct English {
        }
        """,
      """
      struct English {
      \(members("English", line: 2, as: type, kind: 2, [name, "Shop.English"]))
      }
      """)
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

  /// A type may be called like its module.
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

  /// What `init()` may look like.
  @Test(arguments: [
    "init() {}", "private init() {}", "init(language: String = \"en\") {}",
    "init(_ all: Int...) {}",
    "init(a: Int) {}; init() {}", "init() throws {}; init(a: Int = 1) {}",
    "init() throws(Never) {}",
    "let a = 1", "var a: Int?", "var a: Int { 1 }", "static let a: Int = 1", "lazy var a = 1",
    "@Wrapped var a: Int", "#if DEBUG\n  init() {}\n  #endif",
  ])
  func anInitializerThatCanBeCalledIsAccepted(body: String) {
    expectExpansion(
      of: """
        @BeeHiveService((any Greeter).self)
        struct English: Greeter {
          \(body)
        }
        """,
      """
      struct English: Greeter {
        \(body)
      \(members("English", line: 2, as: "(any Greeter)", kind: 2, ["Greeter", "Shop.English"]))
      }
      """)
  }

  @Test func onTheMainActorANonisolatedInitializerIsAccepted() {
    expectExpansion(
      of: """
        @BeeHiveService((any Greeter).self)
        @MainActor final class English: Greeter {
          nonisolated init() {}
        }
        """,
      """
      @MainActor final class English: Greeter {
        nonisolated init() {}
      \(members("English", line: 2, as: "(any Greeter)", kind: 2, ["Greeter", "Shop.English"]))
      }
      """)
  }
}

extension String {
  fileprivate func indented(by width: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : String(repeating: " ", count: width) + $0 }
      .joined(separator: "\n")
  }
}
