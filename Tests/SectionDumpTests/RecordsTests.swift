import Foundation
import TestSupport
import Testing

@Suite("section-dump records")
struct RecordsTests {
  /// A way to link, strip or not, and what the file then is.
  struct Form: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var type: String
    var arguments: [String]
    var isProgram = false
    var compiler = Compiler.program
    var afterwards: [String] = []
  }

  static let forms = [
    Form(testDescription: "shared", type: "shared", arguments: ["-shared", "-fPIC"]),
    Form(
      testDescription: "shared, lld", type: "shared",
      arguments: ["-shared", "-fPIC", "-fuse-ld=lld"], compiler: "clang"),
    Form(
      testDescription: "shared, RELR", type: "shared",
      arguments: ["-shared", "-fPIC", "-Wl,-z,pack-relative-relocs"]),
    Form(
      testDescription: "object", type: "object", arguments: ["-c"]),
    Form(
      testDescription: "merged object", type: "object", arguments: ["-r", "-nostdlib"]),
    Form(
      testDescription: "executable", type: "executable", arguments: ["-pie", "-fPIE"],
      isProgram: true),
    Form(
      testDescription: "executable at a fixed address", type: "executable",
      arguments: ["-no-pie", "-fno-pie"], isProgram: true),
    Form(
      testDescription: "static", type: "executable", arguments: ["-static"], isProgram: true),
    Form(
      testDescription: "static-pie", type: "executable", arguments: ["-static-pie", "-fPIE"],
      isProgram: true),
    Form(
      testDescription: "stripped", type: "shared", arguments: ["-shared", "-fPIC"],
      afterwards: ["strip"]),
    Form(
      testDescription: "without section headers", type: "shared", arguments: ["-shared", "-fPIC"],
      afterwards: ["llvm-objcopy-19", "--strip-sections"]),
  ]

  @Test("Every kind of native file tells the same records", arguments: forms)
  func kinds(_ form: Form) throws {
    let name = "kind-" + form.testDescription.filter { $0 != " " && $0 != "," }
    try Needs.programs(form.compiler)
    try Needs.linker(of: form.arguments)
    let main = form.isProgram ? "\nint main(void) { return 0; }" : ""
    _ = try Fixtures.build(
      Fixtures.annotated + main, as: name, with: form.compiler, ["-O2"] + form.arguments)
    if let last = form.afterwards.first {
      // Any version of it can do this.
      let tool = try last.hasSuffix("-19") ? Needs.one(of: last, String(last.dropLast(3))) : last
      try Fixtures.tool(tool, form.afterwards.dropFirst() + [name])
    }

    let outcome = try Tool.run([name])
    let file = try #require(try Tool.files([name]).first)

    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try Tool.lines(file).sorted() == Fixtures.annotatedLines.sorted())
    #expect(file["type"] as? String == form.type)
    #expect(file["format"] as? String == "elf")
    #expect(file["bits"] as? Int == Int.bitWidth)
    #expect((file["problems"] as? [Any])?.isEmpty == true)
  }

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
