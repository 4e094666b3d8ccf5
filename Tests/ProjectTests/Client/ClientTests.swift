import Foundation
import TestSupport
import Testing

@Suite("A package that takes this one by version", .full, .needs("git"))
struct ClientTests {
  /// What its C and Swift targets declare.
  private static let declared = [
    "module CalendarModule", "module clock", "service Almanac", "service Greeter",
  ]

  @Test("builds in release, and section-dump as a product of its dependency")
  func builds() throws {
    let client = try Client.built.get()
    for program in ["Client", "section-dump"] {
      let path = client.products.appendingPathComponent(program).path
      #expect(FileManager.default.isExecutableFile(atPath: path), "\(program)")
    }
  }

  /// README promises that nobody pays for swift-syntax without the trait.
  @Test("does not fetch swift-syntax without the trait")
  func fetches() throws {
    let client = try Client.built.get()
    let checkouts = try FileManager.default.contentsOfDirectory(atPath: client.checkouts.path)
    #expect(checkouts.contains("swift-argument-parser"))
    #expect(!checkouts.contains("swift-syntax"))
  }

  @Test("has every entry in its release build")
  func entries() throws {
    let products = try Client.built.get().products
    let output = try Command.output(
      products.appendingPathComponent("section-dump").path,
      ["records", "--format", "json", products.appendingPathComponent("Client").path])
    let document = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
    let files = try #require(document?["files"] as? [[String: Any]])
    let records = files.flatMap { $0["records"] as? [[String: Any]] ?? [] }
    #expect(records.map { "\($0["kind"] ?? "") \($0["name"] ?? "")" }.sorted() == Self.declared)
  }

  @Test("runs with the same entries in its Hive, and its service answers")
  func runs() throws {
    let client = try Client.built.get().products.appendingPathComponent("Client").path
    let outcome = try Command.run(client)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.lines.sorted() == (Self.declared + ["hello from a release build"]).sorted())
  }
}
