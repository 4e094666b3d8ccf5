import Testing

/// Routes and targets come with the libraries that declare them, and go when these are removed.
@Suite struct RoutingTests {
  static let open = "open=./libshop.so"
  static let close = "close=./libshop.so"
  static let withdraw = "withdraw=./libshop.so"
  static let page = "ask=app://page/7"
  static let listed = [
    "action remote shop.stock() -> String libshop.so BeehiveRecords[0]",
    "route remote app://page/:id<Int> libshop.so BeehiveRecords[1]",
    "route local app://storeroom libshop.so BeehiveRecords[2]",
  ]
  static let nothing = "nothing can be called"

  /// Returns the source of a library with a target and two routes, whose answers name it.
  static func shop(_ name: String = "shop") -> String {
    """
    #include <BeeHive.h>
    static bool answer(const beehive_call *call, beehive_reply *reply) {
      (void)call;
      beehive_reply_text(reply, "\(name)");
      return true;
    }
    static const beehive_action actions[] = {{"stock", answer}};
    BEEHIVE_TARGET(\(name), actions, BEEHIVE_ACTION("remote stock() -> String"));
    BEEHIVE_ROUTE("app://page/:id<Int>", answer, BEEHIVE_REMOTE);
    BEEHIVE_ROUTE("app://storeroom", answer);
    """
  }

  /// The steps of a host with a library, and its output.
  struct Life: CustomTestStringConvertible {
    var testDescription: String
    var steps: [String]
    var said: [String]
  }

  static let lives = [
    Life(
      testDescription: "opened before the Hive was touched",
      steps: [open, "catalogue", page, "perform=shop.stock"], said: listed + ["shop", "shop"]),
    Life(
      testDescription: "opened after somebody has asked in vain",
      steps: ["catalogue", page, "perform=shop.stock", open, page, "perform=shop.stock"],
      said: [nothing, "no-route", "no-target", "shop", "shop"]),
    Life(
      testDescription: "asked from outside: what is marked answers",
      steps: [
        "touch", open, "ask-remote=app://page/7", "ask-remote=app://shop/stock",
        "ask-remote=app://storeroom",
      ], said: ["shop", "shop", "not-remote"]),
    Life(
      testDescription: "closed: it stays, and answers",
      steps: [open, close, "mapped=libshop.so", page, "perform=shop.stock"],
      said: ["libshop.so is mapped", "shop", "shop"]),
    Life(
      testDescription: "removed: its routes go, and the target",
      steps: [open, "catalogue", withdraw, page, "perform=shop.stock", "catalogue"],
      said: listed + ["3 removed", "no-route", "no-target", nothing]),
    Life(
      testDescription: "one of two that declare the same: the second is refused with both places",
      steps: [open, "open=./libmart.so", "catalogue", page, "entries"],
      said: [
        "action remote mart.stock() -> String libmart.so BeehiveRecords[0]", listed[0], listed[1],
        listed[2],
        "shop",
        "bound target shop at libshop.so BeehiveRecords[0]",
        "bound route app://page/:id<Int> at libshop.so BeehiveRecords[1]",
        "bound route app://storeroom at libshop.so BeehiveRecords[2]",
        "bound target mart at libmart.so BeehiveRecords[0]",
        "rejected (duplicate) route app://page/:id<Int> at libmart.so BeehiveRecords[1]",
        "rejected (duplicate) route app://storeroom at libmart.so BeehiveRecords[2]",
      ]),
    Life(
      testDescription: "the first of two that declare the same: the second takes its place",
      steps: [open, "open=./libmart.so", "catalogue", withdraw, page, "ask=app://storeroom"],
      said: [
        "action remote mart.stock() -> String libmart.so BeehiveRecords[0]", listed[0], listed[1],
        listed[2],
        "3 removed", "mart", "mart",
      ]),
  ]

  @Test("A library with routes is", arguments: lives) func library(life: Life) throws {
    let workshop = try Workshop()
    for name in ["shop", "mart"] { try workshop.library(name, Self.shop(name)) }
    #expect(try Program.host(life.steps, in: workshop) == life.said)
  }

  @Test("It comes and is closed while another thread asks: its answer or none, and nothing else")
  func meanwhile() throws { try reopen() }

  @Test(
    "It comes and is closed while another thread asks, and the sanitizer is quiet",
    .needsSanitizedHosts, arguments: Sanitizer.allCases)
  func meanwhile(sanitizer: Sanitizer) throws { try reopen(under: sanitizer) }

  private func reopen(under sanitizer: Sanitizer? = nil) throws {
    let workshop = try Workshop()
    try workshop.library("shop", Self.shop())
    let said = try Program.host(
      "touch", "reopen-while-asking-url=./libshop.so,app://page/7", Self.open, Self.page,
      in: workshop, under: sanitizer)
    #expect(["no-route", "no-route, shop", "shop"].contains(said.first), "\(said)")
    #expect(said.last == "shop")
  }
}
