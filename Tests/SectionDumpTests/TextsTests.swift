import Foundation
import TestSupport
import Testing

@testable import section_dump

/// Texts and names as they are in files: with `\`, with control bytes, and outside UTF-8.
@Suite("Texts that are written in another way than they are")
struct TextsTests {
  /// Each text as bytes, and as tables and CSV show it.
  static let texts: [(bytes: [UInt8], shown: String)] = [
    (Array("plain".utf8), "plain"),
    (Array(#"C:\new"#.utf8), #"C:\\new"#),
    (Array(#"\x0a"#.utf8), #"\\x0a"#),
    (Array("a\nb\u{1b}".utf8), #"a\x0ab\x1b"#),
    (Array("é\u{202e}→".utf8), #"é\u{202e}→"#),
    ([0x63, 0x61, 0x66, 0xe9], #"caf\xe9"#),
    ([0x61, 0xe2, 0x86, 0x62, 0xff], #"a\xe2\x86b\xff"#),
    (Array(#"a,"b""#.utf8), #"a,"b""#),
  ]

  /// A library with pointers to the texts, and with a section of them.
  private static let library = Result {
    let pointers = texts.indices.map { ".quad text\($0)\n" }.joined()
    let bytes = texts.map { text in
      ".byte " + (text.bytes + [0]).map(String.init).joined(separator: ", ") + "\n"
    }
    return try Fixtures.build(
      """
      .section list, "aw"
      \(pointers)
      .section .rodata.texts, "a"
      \(bytes.enumerated().map { "text\($0.offset): \($0.element)" }.joined())
      .section kept, "S", %progbits
      \(bytes.joined())
      """, as: "texts.so", suffix: "s", ["-shared", "-nostdlib"])
  }

  /// A file named like a command, which only a path can mean.
  private static let calledLikeCommand = Result {
    try Fixtures.bytes(library.get()).write(to: Fixtures.place("sections"))
  }

  @Test(
    "A table and CSV escape what is no letter, and the sign that begins an escape",
    arguments: ["list", "kept"])
  func shown(section: String) throws {
    let name = try Self.library.get()
    let table = try Tool.run(["strings", "--section", section, name])
    #expect(table.status == 0 && table.lines.count == Self.texts.count + 2)
    for (line, text) in zip(table.lines.dropFirst(2), Self.texts) {
      #expect(line.hasSuffix("  \(text.shown)"), "\(line)")
    }
    let csv = try Tool.run(["strings", "--section", section, "--format", "csv", name])
    let rows = Tool.rows(csv.output)
    let column = try #require(rows.first?.firstIndex(of: "string"))
    #expect(rows.dropFirst().map { $0[column] } == Self.texts.map(\.shown))
  }

  @Test(
    "JSON has every text, and the bytes beside one that is no UTF-8", arguments: ["list", "kept"])
  func whole(section: String) throws {
    let entries = try Tool.entries(["strings", "--section", section, try Self.library.get()])
    #expect(entries.count == Self.texts.count)
    for (entry, text) in zip(entries, Self.texts) {
      #expect(entry["string"] as? String == String(decoding: text.bytes, as: UTF8.self))
      #expect(entry["stringSize"] as? Int == text.bytes.count)
      let isUTF8 = String(validating: text.bytes, as: UTF8.self) != nil
      let digits = text.bytes.map { String(format: "%02x", $0) }.joined()
      #expect(entry["stringBytes"] as? String == (isUTF8 ? nil : digits))
    }
  }

  @Test("An arrow shows them as a table does")
  func arrows() throws {
    let output = try Tool.run(["hex", "--section", "list", try Self.library.get()]).output
    for text in Self.texts { #expect(output.contains(" \"\(text.shown)\""), "\(text.shown)") }
  }

  @Test("A text is cut between characters")
  func cut() {
    func size(_ text: String, _ limit: Int) -> Int {
      SlotText(bytes: Array(text.utf8), size: text.utf8.count).cut(to: limit).bytes.count
    }
    #expect((1...7).map { size("aé→🐝", $0) } == [1, 1, 3, 3, 3, 6, 6])
    // Bytes that are not text are cut at the limit.
    let data = SlotText(bytes: [UInt8](repeating: 0x80, count: 9), size: 9)
    #expect(data.cut(to: 5).bytes.count == 5)
  }

  // MARK: - Names

  /// Two sections whose names are not UTF-8, and differ only in those bytes.
  private static let named = Result {
    let name = try Fixtures.build(
      """
      .section cafX, "aw"
      .quad one
      .section cafY, "aw"
      .quad two
      .section .rodata.names, "a"
      one: .asciz "first"
      two: .asciz "second"
      """, as: "named.so", suffix: "s", ["-shared", "-nostdlib"])
    var bytes = try Fixtures.bytes(name)
    for (letter, byte) in [("X", 0xe9), ("Y", 0xe8)] as [(String, UInt8)] {
      let range = try #require(bytes.range(of: Data("caf\(letter)\0".utf8)))
      bytes[range.lowerBound + 3] = byte
    }
    try bytes.write(to: Fixtures.place("named-so.so"))
    return "named-so.so"
  }

  @Test("A section whose name is no UTF-8 is found by patterns, and each format has its bytes")
  func names() throws {
    let name = try Self.named.get()
    func found(_ pattern: String) throws -> [String] {
      let sections = try Tool.sections(["strings", "--section", pattern, name])
      return try sections.filter { $0["nameBytes"] != nil }.map { section in
        let entries = try #require(section["entries"] as? [[String: Any]])
        #expect(section["name"] as? String == "caf\u{fffd}")
        return "\(section["nameBytes"] ?? "") \(entries.first?["string"] ?? "")"
      }
    }
    let both = ["636166e9 first", "636166e8 second"]
    for pattern in ["*", "caf*", "caf?", "caf\u{fffd}"] { #expect(try found(pattern) == both) }
    #expect(try found("caf") == [] && found("cafe") == [])
    for command in [["sections"], ["strings", "--section", "caf*"], ["hex", "--section", "caf*"]] {
      for format in ["table", "csv"] {
        let outcome = try Tool.run(command + ["--format", format, name]).expect(0)
        for shown in [#"caf\xe9"#, #"caf\xe8"#] {
          #expect(outcome.output.contains(shown), "\(command) \(format)")
        }
      }
    }
    let sections = try Tool.sections(["sections", name])
    #expect(sections.compactMap { $0["nameBytes"] as? String } == ["636166e9", "636166e8"])
  }

  // MARK: - Writing

  @Test("Any bytes come back from a cell")
  func cells() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...12)).map { _ in
        // Escape characters and parts of characters, more often than others.
        [UInt8.random(in: 0...255, using: &random), 0x5c, 0x22, 0xe2, 0x80, 0xae].randomElement()!
      }
      let cell = ByteSink.bytes { $0.write(bytes.span, as: .cell) }
      #expect(Self.unescaped(cell) == bytes, "\(bytes)")
    }
  }

  /// Returns the bytes that a cell stands for.
  private static func unescaped(_ cell: [UInt8]) -> [UInt8] {
    var rest = Substring(String(decoding: cell, as: UTF8.self)).unicodeScalars
    var bytes: [UInt8] = []
    func number(_ digits: Substring.UnicodeScalarView) -> UInt32 {
      UInt32(String(String.UnicodeScalarView(digits)), radix: 16) ?? 0
    }
    while let character = rest.popFirst() {
      guard character == "\\" else {
        bytes += Array(String(character).utf8)
        continue
      }
      switch rest.popFirst() {
      case "x":
        bytes.append(UInt8(number(rest.prefix(2))))
        rest = rest.dropFirst(2)
      case "u":
        let digits = rest.dropFirst().prefix { $0 != "}" }
        bytes += Array(String(Unicode.Scalar(number(digits)) ?? " ").utf8)
        rest = rest.dropFirst(digits.count + 2)
      default: bytes.append(UInt8(ascii: "\\"))
      }
    }
    return bytes
  }

  @Test("Numbers are written as Swift writes them")
  func numbers() {
    let powers = (0..<64).flatMap { [1 << $0, 1 << $0 &- 1, 1 << $0 &+ 1] as [UInt64] }
    let tens = (0..<20).map { (0..<$0).reduce(1 as UInt64) { power, _ in power * 10 } }
    for number in powers + tens + tens.map({ $0 &- 1 }) + [0, .max] {
      let decimal = ByteSink.bytes { $0.write(decimal: number) }
      let hexadecimal = ByteSink.bytes { $0.write(hexadecimal: number) }
      #expect(String(decoding: decimal, as: UTF8.self) == String(number))
      #expect(String(decoding: hexadecimal, as: UTF8.self) == "0x" + String(number, radix: 16))
    }
    let negative = ByteSink.bytes { $0.write(decimal: Int.min) }
    #expect(String(decoding: negative, as: UTF8.self) == String(Int.min))
    let padded = ByteSink.bytes { $0.write(hexadecimal: 0x1f, padding: 7) }
    #expect(String(decoding: padded, as: UTF8.self) == "0x1f   ")
  }

  @Test("A sink hands on pieces of any size, in their order")
  func pieces() {
    var (all, largest) = ([UInt8](), 0)
    let sink = ByteSink { bytes in
      all += bytes
      largest = max(largest, bytes.count)
      return 0
    }
    var expected: [UInt8] = []
    for size in [1, 65_535, 3, 200_000, 0, 65_536, 7] {
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
      sink.write(bytes)
      sink.write(UInt8(ascii: "|"))
      expected += bytes + [UInt8(ascii: "|")]
    }
    sink.flush()
    #expect(all == expected && largest <= 200_001)
  }

  @Test(
    "What is typed in the usual way skips the argument parser, and is read in the same way",
    arguments: ["table", "json", "ndjson", "csv"])
  func plainArguments(format: String) throws {
    let name = try Self.library.get()
    try Self.calledLikeCommand.get()
    for (plain, other) in [
      (["sections"], ["sections", "--jobs", "1"]), (["records"], ["records", "--arch", "all"]),
      ([], ["records"]), (["no-such"], ["records", "no-such"]),
      (["./sections"], ["records", "./sections"]),
      (
        ["hex", "--section", "list", "--section", "k*"], ["hex", "--section=list", "--section=k*"]
      ),
      (["strings", "--section", "list"], ["strings", "--section=list"]),
    ] {
      try Tool.expectSame(
        Tool.run(plain + ["--format", format, name]), Tool.run(other + ["--format", format, name]))
    }
    for wrong in [
      ["sections"], ["strings", name], ["sections", "--section", "list", name],
      ["hex", "--section", name], ["hex", "--section", "", name],
    ] {
      #expect(try Tool.run(wrong).status == 64, "\(wrong)")
    }
  }
}
