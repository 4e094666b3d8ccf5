import Foundation
import Testing

/// A Hive's report on the libraries in its process, as a program reads it.
@Suite struct ReportTests {
  /// The report, as the keys of API are spelled.
  private struct Report: Decodable, Equatable {
    struct Line: Decodable, Equatable {
      var state: String
      var kind: String
      var name: String
      var implementation: String?
      var origin: String
      var section: String?
      var index: Int?
      var code: String?
      var reason: String?
    }

    var entries: [Line]
    var images: [String]
    var order: [String]
    var lifts: [String]
  }

  @Test("Each entry with its state, its reason, its image, section and index; a bad image once")
  func json() throws {
    let workshop = try Workshop()
    try workshop.library(
      "shop",
      Source.speaker()
        + """
        BeeHiveMod(Shop.Absent);
        static const char *const bad
          __attribute__((used, retain, section("BeehiveMods"), aligned(8))) = 0;
        BeeHiveService(Shop.Cart, Shop.CartModel);
        """)
    try workshop.library("handmade", FileTests.handmade)
    try workshop.dropSectionHeaders(of: "libhandmade.so")
    let said = try Program.host(
      "open=./libshop.so", "open=./libhandmade.so", "refresh", "report", in: workshop)
    let report = try JSONDecoder().decode(
      Report.self, from: Data(said.joined(separator: "\n").utf8))

    #expect(
      Set(report.entries.map { URL(filePath: $0.origin).lastPathComponent }) == ["libshop.so"])
    let lines = report.entries.map { line in
      [
        line.state, line.kind, line.name, line.implementation ?? "–", line.section ?? "–",
        line.index.map(String.init) ?? "–", line.code ?? "–",
      ].joined(separator: " ")
    }
    #expect(
      lines == [
        "accepted module Shop.Absent – BeehiveMods 0 no-such-type",
        "accepted service Shop.Cart Shop.CartModel BeehiveServices 0 no-such-type",
        "bound service Speaker Table BeehiveRecords 0 –",
        "rejected module  – BeehiveMods 1 null-pointer",
      ])
    #expect(report.entries.allSatisfy { ($0.reason == nil) == ($0.code == nil) })
    #expect(report.images.count == 1)
    #expect(report.images.first?.contains("libhandmade.so") == true)
    #expect(report.images.first?.contains("section") == true)
  }
}
