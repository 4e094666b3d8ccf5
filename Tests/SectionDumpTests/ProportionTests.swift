import Foundation
import TestSupport
import Testing

/// Slots whose texts, all shown, would make thousands of times the file.
@Suite("What is printed is in proportion to the file")
struct ProportionTests {
  /// Builds a library with `count` pointers in the section `list`. Each leads `offset` bytes into the text.
  private static func library(
    _ name: String, count: Int = 20_000, text: String = ".fill 65535, 1, 0x78",
    offset: (Int) -> Int = { _ in 0 }
  ) throws -> String {
    let slots = (0..<count).map { ".quad text+\(offset($0))\n" }.joined()
    return try Fixtures.build(
      """
      .section list, "aw"
      \(slots)
      .section .rodata.text, "a"
      text: \(text)
      .byte 0
      """, as: name, suffix: "s", ["-shared", "-nostdlib", "-Wl,-z,pack-relative-relocs"])
  }

  /// Returns the output of a run with limited memory, except under a sanitizer, and its size relative to the file.
  private static func printed(
    _ name: String, _ options: String...
  ) throws -> (outcome: Outcome, share: Double) {
    let outcome = try Tool.limited(["strings", "--section", "list"] + options + [name])
    let size = try Fixtures.bytes(name).count
    return (outcome, Double(outcome.output.utf8.count) / Double(size))
  }

  private static func entries(_ outcome: Outcome) throws -> [[String: Any]] {
    let file = try #require(Tool.files(of: outcome).first)
    let section = try #require((file["sections"] as? [[String: Any]])?.first)
    return try #require(section["entries"] as? [[String: Any]])
  }

  @Test(
    "Of a text that all slots share each shows the first bytes", .limitsMemory,
    arguments: ["table", "json", "csv"])
  func shared(format: String) throws {
    let name = try Self.library("shared-text.so")
    let (outcome, share) = try Self.printed(name, "--format", format)
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    #expect(share < 50, "\(share) times the file")
    let text = String(repeating: "x", count: 256)
    switch format {
    case "json":
      let entries = try Self.entries(outcome)
      #expect(entries.count == 20_000)
      #expect(
        entries.allSatisfy {
          $0["string"] as? String == text && $0["stringSize"] as? Int == 65_535
        })
    case "csv": #expect(outcome.lines.dropFirst().allSatisfy { $0.hasSuffix(",,65535") })
    default: #expect(outcome.lines.last?.hasSuffix(" \(text)… (65535 bytes)") == true)
    }
  }

  @Test(
    "--whole-texts shows them whole up to --max-bytes, without keeping them", .limitsMemory,
    arguments: ["table", "json"])
  func whole(format: String) throws {
    let name = try Self.library("whole-text.so", count: 6000)
    let most = 300 * 65_536
    let (some, _) = try Self.printed(
      name, "--whole-texts", "--max-bytes", "\(most)", "--format", format)
    some.expect(2, errors: "list[300] (offset 0x")
    #expect(
      some.errors.hasSuffix(
        "): The texts make more than --max-bytes allows; this one is left out. The same holds for 5699 "
          + "more behind it.\n"))
    #expect(
      (most - 300..<most + 6000 * 400).contains(some.output.utf8.count),
      "\(some.output.utf8.count)")
    // A tool that keeps everything it shows has too little memory for this.
    let (all, _) = try Self.printed(
      name, "--whole-texts", "--max-bytes", "\(160 << 20)", "--format", format)
    #expect(all.output.utf8.count > 160 << 20)
  }

  @Test("Parts of a text that was read cost nothing")
  func parts() throws {
    let name = try Self.library("parts.so") { 3 * $0 }
    let (outcome, _) = try Self.printed(name, "--format", "json")
    #expect(outcome.status == 0)
    let sizes = try Self.entries(outcome).map { $0["stringSize"] as? Int }
    #expect(sizes == (0..<20_000).map { 65_535 - 3 * $0 })
  }

  @Test("Texts that make more than the file allows are left out, which is told once")
  func overlapping() throws {
    // Each slot's text begins before the texts that were already read.
    let name = try Self.library("overlapping.so") { 60_000 - 3 * $0 }
    let (outcome, share) = try Self.printed(name, "--format", "json")
    outcome.expect(2, errors: "The texts make more than 8 times the file")
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(share < 20, "\(share) times the file")
    let entries = try Self.entries(outcome)
    let shown = entries.prefix { $0["string"] is String }
    #expect(entries.count == 20_000)
    #expect(entries.dropFirst(shown.count).allSatisfy { $0["note"] as? String == "left out" })
    // The tool reads the texts that it shows, each once, and no more.
    let read = shown.reduce(0) { $0 + ($1["stringSize"] as? Int ?? 0) + 1 }
    let most = try 8 * Fixtures.bytes(name).count
    #expect((most..<most + 65_536).contains(read))
    let other = entries[shown.count]
    #expect(other["target"] is String && other["kind"] as? String == "pointer")
  }

  @Test("A table of binary data, as Python's codecs have, is no reason to print it again and again")
  func binary() throws {
    // Two bytes for each of 40,000 characters, with few zeros, and a pointer to every 25th.
    let words = (0..<40_000).map { number in
      ".short \(number % 5000 == 0 ? 0 : 0x8080 | number * 257 % 0xffff)\n"
    }.joined()
    let name = try Self.library("binary.so", count: 1600, text: words) { 50 * $0 }
    for format in ["table", "json", "csv"] {
      let (outcome, share) = try Self.printed(name, "--format", format)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(share < 25, "\(format): \(share) times the file")
    }
  }

  private static let name = String(repeating: "A", count: 60_000)

  @Test(
    "A long name or text that all entries share is shown a few times, or in part",
    arguments: [
      (
        "record", "KiB of names",
        """
        .section BeehiveRecords, "aw"
        .rept 3000
        .long 40
        .short 1, 0x8001
        .long 0, 32
        .quad \(name), 0
        .asciz "record"
        .balign 8
        .endr
        """
      ),
      (
        "symbol", "more than 8 times the file",
        ".section list, \"aw\"\n.rept 3000\n.quad \(name)\n.endr"
      ),
      ("import", "AA…", ".section BeehiveMods, \"aw\"\n.rept 3000\n.quad \(name)\n.endr"),
      (
        "unnamed", "KiB of names",
        """
        .section BeehiveServices, "aw"
        .rept 3000
        .quad text
        .endr
        .section .rodata.text, "a"
        text: .ascii "{ \\"\(name.prefix(16_000))"
        .asciz "\\" : \\"\\" }"
        """
      ),
      (
        "conformance", "the same bytes again and again",
        """
        .section .data.slot, "aw"
        slot: .quad "$s\(name)Mp"
        .section .rodata.types, "a"
        name: .asciz "Type"
        .balign 4
        module: .long 0x50, 0, name - .
        type: .long 0x51, module - ., name - ., 0, 0, 0, 0
        own: .long slot - . + 1, type - ., 0, 0
        .section swift5_protocol_conformances, "a"
        .rept 3000
        .long own - .
        .endr
        """
      ),
    ])
  func sharedNames(what: String, message: String, source: String) throws {
    let name = try Fixtures.build(
      source + "\n", as: "shared-\(what).so", suffix: "s",
      ["-shared", "-nostdlib", "-Wl,-z,pack-relative-relocs"])
    let commands = ["conformance": ["conformances"], "symbol": ["strings", "--section", "list"]]
    let outcome = try Tool.run(commands[what, default: ["records"]] + ["--format", "json", name])
      .expect(2, errors: message)
    let share =
      try (outcome.output.utf8.count + outcome.errors.utf8.count) / Fixtures.bytes(name).count
    #expect(share < 40, "\(share) times the file")
  }

  @Test("Sections that share their bytes are shown as far as the file has as many")
  func sections() throws {
    let names = (0..<40).map { "share\($0)" }
    let name = try Fixtures.build(
      ".set word, 0\n"
        + names.map { name in
          ".section \(name), \"aw\"\n"
            + ".rept 1024\n.long word\n.set word, word + 77777\n.endr\n"
        }.joined(),
      as: "sharing.o", suffix: "s", ["-c"])
    var file = try LinkedBytes(Fixtures.place(name).path)
    // Each section is the whole file except its first page.
    for (_, header) in file.sections() where file.number(at: header + 32) == 4096 {
      file.put(4096, at: header + 24)
      file.put(file.bytes.count - 4096, at: header + 32)
    }
    try file.write(to: Fixtures.place("sharing-all.o"))
    let outcome = try Tool.run(["hex", "--section", "share*", "sharing-all.o"]).expect(
      2, errors: "The section is not shown: it shares its bytes with sections")
    #expect(outcome.output.utf8.count < 6 * file.bytes.count)
  }

  @Test(
    "3,000 sections of one name in an object, with pointers to bytes and their end, are read",
    .mayHang)
  func manySections() throws {
    let name = try Fixtures.build(
      (0..<3000).map { ".section .data.p, \"aw\", @progbits, unique, \($0)\n.quad x, x + 4\n" }
        .joined() + ".section .data.x, \"aw\"\nx: .long 0x01010101\n",
      as: "many-sections.o", suffix: "s", ["-c"])
    let outcome = try Tool.run(["strings", "--format", "json", "--section", ".data.p", name])
      .expect(0)
    let sections = try #require(Tool.files(of: outcome).first?["sections"] as? [[String: Any]])
    let entries = sections.flatMap { $0["entries"] as? [[String: Any]] ?? [] }
    #expect(entries.count == 6000 && entries.allSatisfy { $0["symbol"] as? String == ".data.x" })
    let notes = entries.suffix(2).compactMap { $0["note"] as? String }
    #expect(notes[0].hasPrefix("no text: no NUL within"))
    #expect(notes[1] == "the file has no bytes there: it is zeroed memory, or where a section ends")
  }

  @Test(
    "Of findings on a name that all entries share, the first of each file are listed",
    .limitsMemory,
    arguments: [("verify", "json"), ("verify", "table"), ("graph", "json"), ("graph", "dot")])
  func findings(command: String, format: String) throws {
    let count = Effort.times(4000, full: 20_000)
    let library = try Fixtures.build(
      """
      .section BeehiveMods, "aw"
      .rept \(count)
      .quad text
      .endr
      .section .rodata.text, "a"
      text: .fill 180, 1, 1
      .byte 0
      .section .note.GNU-stack, "", %progbits
      """, as: "shared-name.so", suffix: "s",
      ["-shared", "-nostdlib", "-Wl,-z,pack-relative-relocs"])
    let name = String(repeating: "\u{1}", count: 240)
    let archive = "shared-name-\(command)-\(format).a"
    try? FileManager.default.removeItem(at: Fixtures.place(archive))
    try? FileManager.default.copyItem(at: Fixtures.place(library), to: Fixtures.place(name))
    try Fixtures.tool("ar", ["rcS", archive, name])
    for file in [library, archive] {
      let outcome = try Tool.limited([command, "--format", format, file], kilobytes: 200_000)
      let share = try outcome.output.utf8.count / Fixtures.bytes(file).count
      // The same number of findings is a larger share of a smaller file.
      let most = (command == "verify" ? 32 : 200) * 20_000 / count
      #expect(share < most, "\(share) times the file")
      guard command == "verify", format == "json" else { continue }
      let codes = try Tool.files(of: outcome, key: "findings").map { $0["code"] as? String }
      #expect(codes.count { $0 == "duplicate-module" } == 1025)
    }
  }

  @Test("A text is one, however long; what is compressed is shown up to 16 times the file")
  func long() throws {
    let source = """
      .section texts, "a"
      long: .fill 70000, 1, 0x61
      .asciz "", "beta"
      .section list, "aw"
      .quad long
      .section .debug_str, ""
      .rept 1000000
      .asciz "x"
      .endr
      """
    let options = ["-shared", "-nostdlib", "-Wl,--compress-debug-sections=zlib"]
    let library = try Fixtures.build(source, as: "long.so", suffix: "s", options)
    for (section, more) in [("texts", []), ("list", ["--whole-texts"])] {
      let arguments = ["strings", "--format", "csv", "--section", section] + more + [library]
      #expect(try Tool.run(arguments).expect(0).lines[1].hasSuffix(",70000"))
    }
    try Tool.run(["strings", "--section", ".debug_str", library])
      .expect(2, errors: "more than 16 times the file")
  }
}
