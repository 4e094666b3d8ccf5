import Foundation
import TestSupport
import Testing

@Suite("section-dump records")
struct RecordsTests {
  /// Compares each format with its golden.
  private func expectGoldens(
    _ arguments: [String], _ name: String, status: Int32? = nil,
    formats: [String] = ["table", "json", "csv"]
  ) throws {
    for format in formats {
      let outcome = try Tool.run(arguments + ["--format", format])
      #expect(status == nil || outcome.status == status, "\(outcome.errors)")
      try expectGolden(settled(outcome.output), "\(name).\(format == "table" ? "txt" : format)")
      if name == "records" { try expectGolden(settled(outcome.errors), "records.stderr.txt") }
    }
  }

  @Test("What is printed of an object whose every word is known")
  func records() throws {
    let name = try Fixtures.build(Fixtures.layout, as: "layout.o", suffix: "s", ["-c"])
    try expectGoldens([name], "records", status: 2, formats: ["table", "json", "ndjson", "csv"])
  }

  @Test(
    "and of its slots",
    arguments: [
      (["strings", "--section", "BeehiveMods"], "strings"),
      (["hex", "--section", "BeehiveMods"], "hex"),
      (["hex", "--section", "BeehiveRecords"], "hex-records"),
    ])
  func slots(_ arguments: [String], _ name: String) throws {
    let object = try Fixtures.build(Fixtures.layout, as: "layout-\(name).o", suffix: "s", ["-c"])
    try expectGoldens(arguments + [object], name)
  }

  @Test("Each interface with its parameters, types, defaults and remote mark", .needs("gcc"))
  func routes() throws {
    // Keeps the order of the source, which gcc may otherwise change.
    let name = try Fixtures.build(
      Fixtures.source("routes.c"), as: "routes.o", with: "gcc", ["-c", "-fno-toplevel-reorder"])
    try expectGoldens([name], "routes", status: 0, formats: ["table", "json", "ndjson", "csv"])
  }

  @Test("Addresses, offsets and resolutions are those of the linker")
  func places() throws {
    let name = try Fixtures.annotatedLibrary("places.so")
    let file = try #require(try Tool.files([name]).first)
    let records = try #require(file["records"] as? [[String: Any]])
    let linked = try LinkedBytes(Fixtures.place(name).path)
    for record in records {
      let section = try #require(
        linked.sections().first { $0.name == record["section"] as? String })
      let address = linked.number(at: section.header + 16)
      let offset = linked.number(at: section.header + 24)
      #expect(try number(record["address"]) >= address)
      #expect(try number(record["address"]) - address == number(record["offset"]) - offset)
    }
    for (key, values) in [
      ("resolution", ["relative", "none"]), ("encoding", ["pointer", "inline"]),
    ] {
      #expect([0, 2].map { records[$0][key] as? String } == values)
    }
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
    let names = try #require(file["records"] as? [[String: Any]])
      .compactMap { $0["name"] as? String }
    #expect(names.sorted() == expected.sorted())
  }

  private func number(_ value: Any?) throws -> Int {
    let text = try #require(value as? String)
    #expect(text.hasPrefix("0x"))
    return try #require(Int(text.dropFirst(2), radix: 16))
  }
}

/// Returns whether a terminal shows the scalar as a character, or ends the line.
func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
  scalar == "\n"
    || ![.control, .format, .lineSeparator, .paragraphSeparator, .surrogate]
      .contains(scalar.properties.generalCategory)
}

/// Returns the text without the parts that depend on the assembler and the machine.
func settled(_ text: String) -> String {
  var text = text
  for (pattern, replacement) in [
    (#"offset":"0x[0-9a-f]+""#, #"offset":"OFFSET""#), (#"\(offset 0x[0-9a-f]+\)"#, "(offset …)"),
    (#"ELF \w+"#, "ELF MACHINE"), (#""machine":"\w+""#, #""machine":"MACHINE""#),
    (#"(,0x[0-9a-f]+),0x[0-9a-f]+,(pointer|inline)"#, "$1,OFFSET,$2"),
    (#"(,0x[0-9a-f]+),0x[0-9a-f]+,(0x[0-9a-f]+,(section|symbol|none|number))"#, "$1,OFFSET,$2"),
  ] {
    text = text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
  }
  return text
}
