import Foundation
import TestSupport
import Testing

@Suite("section-dump records")
struct RecordsTests {
  @Test("What is printed of an object whose every word is known")
  func goldens() throws {
    let name = try Fixtures.build(Fixtures.layout, as: "layout.o", suffix: "s", ["-c"])
    for (format, golden) in [
      ("table", "records.txt"), ("json", "records.json"), ("ndjson", "records.ndjson"),
      ("csv", "records.csv"),
    ] {
      let outcome = try Tool.run([name, "--format", format])
      #expect(outcome.status == 2)
      try expectGolden(settled(outcome.output), golden)
      try expectGolden(settled(outcome.errors), "records.stderr.txt")
    }
  }

  @Test("Addresses, offsets and resolutions are those of the linker")
  func places() throws {
    let name = try Fixtures.annotatedLibrary("places.so")
    let file = try #require(try Tool.files([name]).first)
    let records = try #require(file["records"] as? [[String: Any]])
    let sections = try Fixtures.tool("readelf", ["-SW", name])

    for record in records {
      let section = try #require(record["section"] as? String)
      let words = try #require(
        sections.split(separator: "\n").first { $0.contains(" \(section) ") }
          .map { $0.split(separator: "]").last?.split(separator: " ") ?? [] })
      let address = try #require(UInt64(words[2], radix: 16))
      let offset = try #require(UInt64(words[3], radix: 16))
      #expect(try number(record["address"]) >= address)
      #expect(try number(record["address"]) - address == number(record["offset"]) - offset)
    }
    #expect(records[0]["resolution"] as? String == "relative")
    #expect(records[0]["encoding"] as? String == "pointer")
    #expect(records[2]["resolution"] as? String == "none")
    #expect(records[2]["encoding"] as? String == "inline")
  }

  @Test(
    "Patterns choose what is shown; problems are told all the same",
    arguments: [
      (["--module", "*"], ["audio", "Shop.ShopModule"]),
      (["--service", "*"], ["Greeter", "Shop.HomeService"]),
      (["--module", "Shop.*"], ["Shop.ShopModule"]),
      (["--module", "a?di[n-p]", "--service", "Gree*"], ["Greeter", "audio"]),
      (["--module", "Greeter"], []),
    ])
  func patterns(_ options: [String], _ expected: [String]) throws {
    let name = try Fixtures.annotatedLibrary("patterns-\(UUID().uuidString).so")
    let file = try #require(try Tool.files([name] + options).first)
    let names = try #require(file["records"] as? [[String: Any]]).compactMap {
      $0["name"] as? String
    }
    #expect(names.sorted() == expected.sorted())
  }

  private func number(_ value: Any?) throws -> UInt64 {
    let text = try #require(value as? String)
    #expect(text.hasPrefix("0x"))
    return try #require(UInt64(text.dropFirst(2), radix: 16))
  }
}

/// Whether a terminal shows the scalar as a character, or ends the line.
func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
  scalar == "\n"
    || ![.control, .format, .lineSeparator, .paragraphSeparator, .surrogate]
      .contains(scalar.properties.generalCategory)
}

/// The text without what depends on the assembler and the machine.
func settled(_ text: String) -> String {
  var text = text
  for (pattern, replacement) in [
    (#"offset":"0x[0-9a-f]+""#, #"offset":"OFFSET""#), (#"\(offset 0x[0-9a-f]+\)"#, "(offset …)"),
    (#"ELF \w+"#, "ELF MACHINE"), (#""machine":"\w+""#, #""machine":"MACHINE""#),
    (#"(,0x[0-9a-f]+),0x[0-9a-f]+,(pointer|inline)"#, "$1,OFFSET,$2"),
  ] {
    text = text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
  }
  return text
}
