import Foundation
import TestSupport
import Testing

@Suite("section-dump records of targets and routes")
struct RoutesTests {
  /// Declared with the header alone; no host and no router has seen them.
  private static let source = #"""
    #include <BeeHive.h>
    static bool answer(const beehive_call *call, beehive_reply *reply) { return call && reply; }
    static const beehive_action shop_actions[] = {{"stock", answer}, {"open", answer}};
    BEEHIVE_TARGET(shop, shop_actions,
                   BEEHIVE_ACTION("remote stock(sku: String, count: Int = 1) throws -> Int")
                   BEEHIVE_ACTION("open(page: String?, times: Int)"));
    BEEHIVE_ROUTE("app://shop/:id<Int>(/:tab)?from&page<Int>=1", answer,
                  BEEHIVE_REMOTE BEEHIVE_PRIORITY(3) BEEHIVE_RETURNS("String"));
    BEEHIVE_ROUTE("app://files", answer, BEEHIVE_MATCH("prefix"));
    """#

  @Test(
    "Each interface with its parameters, types, defaults and remote mark", .needs("gcc"),
    arguments: [
      ("table", "routes.txt"), ("json", "routes.json"), ("ndjson", "routes.ndjson"),
      ("csv", "routes.csv"),
    ])
  func goldens(_ format: String, _ golden: String) throws {
    // In the order of the source, which gcc is free to change.
    let name = try Fixtures.build(
      Self.source, as: "routes-\(format).o", with: "gcc", ["-c", "-fno-toplevel-reorder"])
    let outcome = try Tool.run([name, "--format", format])
    #expect(outcome.status == 0, "\(outcome.errors)")
    try expectGolden(
      settled(outcome.output).replacingOccurrences(of: "routes-\(format).o", with: "routes.o"),
      golden)
  }
}
