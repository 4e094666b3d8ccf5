import Testing

@Suite(.comparesRecords) struct ModuleMacroTests {
  private let instead = "do that work in setUp instead"

  @Test func aModuleIsNamedAsTheOtherWaysOfRegistrationNameIt() {
    expectExpansion(
      of: """
        @BeeHiveModule
        struct ShopModule: Module {
        }
        """,
      """
      struct ShopModule: Module {
      \(members(
        "ShopModule", line: 2, as: "any BeeHive.Module", kind: 1, ["Shop.ShopModule", ""],
        instead: instead))
      }
      """)
  }

  @Test func aModuleMayHaveANameOfItsOwn() {
    expectExpansion(
      of: """
        @BeeHiveModule(name: "shop")
        struct ShopModule: Module {
        }
        """,
      """
      struct ShopModule: Module {
      \(members(
        "ShopModule", line: 2, as: "any BeeHive.Module", kind: 1, ["shop", "Shop.ShopModule"],
        instead: instead))
      }
      """)
  }

  @Test func everyArgumentBecomesAnAttribute() {
    expectExpansion(
      of: """
        @BeeHiveModule(
          version: "1.2", level: .basic, priority: 1_000, requires: "log >=1 <2", after: ["audio", #"b"#])
        struct ShopModule: Module {
        }
        """,
      """
      struct ShopModule: Module {
      \(members(
        "ShopModule", line: 3, as: "any BeeHive.Module", kind: 1,
        [
          "Shop.ShopModule", "", "version=1.2", "level=basic", "priority=1000", "requires=log >=1 <2",
          "after=audio", "after=b",
        ],
        annotation: 1, instead: instead))
      }
      """)
  }
}
