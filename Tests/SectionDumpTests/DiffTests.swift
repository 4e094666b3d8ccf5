import Foundation
import TestSupport
import Testing

/// Two builds of a library, and the additions, removals and changes of the second.
@Suite("What section-dump diff shows")
struct DiffTests {
  /// The entries of each build, and the expected lines in a table, without locations.
  static let rows: [(old: [String], new: [String], lines: [String])] = [
    ([log, net], [log, net], []), ([log, net], [net, log], []),
    ([log], [log, net], ["+ module Net"]), ([log, net], [net], ["- module Log"]),
    ([log, log], [log], ["- module Log"]),
    ([english], [french], ["~ service Greeter: implementation English → French"]),
    (
      [english], [english.replacing("english,", with: "english, BEEHIVE_PRIORITY(2)")],
      ["~ service Greeter: attributes abi=c-table → priority=2 abi=c-table"]
    ),
    (
      [log, english], [net, french],
      ["- module Log", "+ module Net", "~ service Greeter: implementation English → French"]
    ),
  ]

  private static let log = "BeeHiveMod(Log);"
  private static let net = "BeeHiveMod(Net);"
  private static let english = "BEEHIVE_SERVICE(Greeter, English, &english,);"
  private static let french = "BEEHIVE_SERVICE(Greeter, French, &english,);"

  private static func build(_ entries: [String], _ name: String) throws -> String {
    let source = (["#include <BeeHive.h>", "static const int english = 1;"] + entries)
      .joined(separator: "\n")
    return try Fixtures.build(source, as: name)
  }

  @Test(arguments: rows)
  func shows(row: (old: [String], new: [String], lines: [String])) throws {
    let id = UUID().uuidString
    let files = [try Self.build(row.old, "old-\(id).so"), try Self.build(row.new, "new-\(id).so")]
    let outcome = try Tool.run(["diff"] + files).expect(row.lines.isEmpty ? 0 : 1)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.dropLast().map { $0.split(separator: "  ")[0] } == row.lines.map { $0[...] })

    let object = try Tool.object(Tool.run(["diff", "--format", "json"] + files).output)
    let counts = ["removed", "added", "changed"].map { (object[$0] as? [Any])?.count ?? -1 }
    #expect(counts == ["-", "+", "~"].map { sign in row.lines.count { $0.hasPrefix(sign) } })
    for record in object["added"] as? [[String: Any]] ?? [] {
      #expect(record["path"] as? String == files[1] && record["container"] as? [String] == [])
    }
  }

  @Test("lines and rows say the same")
  func formats() throws {
    let files = [
      try Self.build([Self.log, Self.english], "diff-a.so"),
      try Self.build([Self.net, Self.french], "diff-b.so"),
    ]
    let rows = try Tool.run(["diff", "--format", "csv"] + files).output.split(separator: "\n")
    #expect(
      rows.dropFirst().map { $0.split(separator: ",").prefix(2).joined(separator: " ") } == [
        "removed diff-a.so", "added diff-b.so", "changed from diff-a.so", "changed to diff-b.so",
      ])
    let lines = try Tool.run(["diff", "--format", "ndjson"] + files).output.split(separator: "\n")
    #expect(try lines.map { try Tool.object($0).keys.first } == ["removed", "added", "changed"])
  }
}
