import Foundation
import TestSupport
import Testing

/// The data for programs that draw the picture of `section-dump graph`.
@Suite("The graph's data has a way to each finding")
struct GraphDataTests {
  /// A cycle through two files, one of a module with itself, and modules and types that are nowhere.
  private static let sources = [
    """
    BEEHIVE_MODULE(ping, &operations, BEEHIVE_REQUIRES("pong"));
    BEEHIVE_MODULE(selfish, &operations, BEEHIVE_REQUIRES("selfish") BEEHIVE_REQUIRES("nowhere"));
    """,
    """
    BEEHIVE_MODULE(pong, &operations, BEEHIVE_REQUIRES("ping") BEEHIVE_REQUIRES("nowhere"));
    BeeHiveMod(Shop.Absent);
    BeeHiveService(Greeter, Shop.Missing);
    """,
  ]

  private static let files = Result {
    try sources.enumerated().map { index, source in
      try Fixtures.build(
        """
        #include <BeeHive.h>
        static const beehive_module_operations operations = {0};
        \(source)
        """, as: "libdata\(index).so")
    }
  }

  private func data() throws -> [String: Any] {
    try Tool.object(Tool.run(["graph", "--format", "json"] + Self.files.get()).output)
  }

  @Test("Modules of a cycle, and what is missing, name the findings about them")
  func findings() throws {
    let data = try data()
    let findings = try #require(data["findings"] as? [[String: Any]])
    let nodes = try #require(data["nodes"] as? [[String: Any]])
    var codes: [String: [String]] = [:]
    for node in nodes {
      let own = (node["findings"] as? [Int] ?? []).map { findings[$0]["code"] as? String ?? "" }
      if !own.isEmpty { codes[node["name"] as? String ?? "", default: []] += own.sorted() }
    }
    #expect(
      codes == [
        "ping": ["cycle"], "pong": ["cycle", "unmet-requirement"],
        "selfish": ["cycle", "unmet-requirement"],
        "nowhere": ["unmet-requirement", "unmet-requirement"],
        "Shop.Absent": ["missing-implementation"], "Shop.Missing": ["missing-implementation"],
      ])
    // What verify prints is what the panel lists.
    let verify = try Tool.run(["verify", "--format", "ndjson"] + Self.files.get())
    #expect(verify.lines.count == findings.count)
  }
}
