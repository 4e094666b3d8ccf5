import Foundation
import TestSupport
import Testing

/// Names that would forge lines, move the cursor or reverse text, wherever a file can have a name.
@Suite("Names of a hostile file")
struct HostileNamesTests {
  struct Name: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]

    init(_ description: String, _ text: String) { self.init(description, Array(text.utf8)) }

    init(_ description: String, _ bytes: [UInt8]) {
      (testDescription, self.bytes) = (description, bytes)
    }

    /// The name that replaces the placeholder, in as many bytes.
    var padded: [UInt8] {
      bytes
        + [UInt8](repeating: 0x78, count: HostileNamesTests.placeholder.utf8.count - bytes.count)
    }

    /// Nil if the bytes are not text.
    var text: String? { String(validating: padded, as: UTF8.self) }
  }

  static let names = [
    Name("nothing to fear", "harmless"),
    Name("a colour", "\u{1b}[31mred\u{1b}[0m"),
    Name("the window's title", "\u{1b}]0;title\u{7}"),
    Name("another line", "one\nforged: error"),
    Name("the same line again", "one\rforged: error"),
    Name("a tab, a backspace and a delete", "a\tb\u{8}c\u{7f}d"),
    Name("a sequence in one character", "a\u{9b}31m\u{85}forged"),
    Name("reversed", "\u{202e}gpj.\u{2066}exe\u{2069}\u{200f}"),
    Name("what nobody sees", "a\u{200b}\u{feff}\u{2028}\u{2029}\u{ad}b"),
    Name("tags beyond 16 bits", "a\u{e0041}\u{e007f}b"),
    Name("quotes, slashes and elements", "a\"b\\c<d>&'`$e;{f},|g"),
    Name("no UTF-8", [0x61, 0xff, 0x9b, 0x33, 0x31, 0x6d, 0xc3]),
    Name("a surrogate", [0x61, 0xed, 0xa0, 0x80, 0x1b, 0x5b, 0x6d]),
    Name("a control byte in two", [0x61, 0xc0, 0x9b, 0x5b, 0x6d]),
  ]

  /// Stands for the name in the sources.
  static let placeholder = "hostile_" + String(repeating: "x", count: 24)

  /// A second placeholder, because an assembler would confuse a section and a symbol of one name.
  private static let sectionPlaceholder = "hostile_" + String(repeating: "y", count: 24)

  /// Returns source for an entry of each sort, a section and a symbol with that name.
  private static func source(_ implementation: String) -> String {
    Fixtures.source("hostile-names.s").replacing("IMPLEMENTATION", with: implementation)
      .replacing("NAME", with: placeholder).replacing("SECTION", with: sectionPlaceholder)
  }

  /// Builds a library and an archive that still contain the placeholder; returns them with their suffixes.
  private static func built(_ implementation: String) -> Result<
    [(suffix: String, file: Data)], any Error
  > {
    Result {
      let library = try Fixtures.build(
        source(implementation), as: "\(implementation)-library", suffix: "s",
        ["-shared", "-Wl,-Bsymbolic"])
      let member = try Fixtures.build(
        source(implementation), as: "\(placeholder)-\(implementation).o", suffix: "s", ["-c"])
      let archive = "\(implementation)-archive"
      try Fixtures.tool("ar", ["rc", archive, member])
      return try [(".so", library), (".a", archive)].map { suffix, name in
        (suffix, try Fixtures.bytes(name))
      }
    }
  }

  private static let same = built(placeholder)
  private static let other = built("other")

  /// Makes a directory of files with every name, outside and inside; returns its path.
  private static func directory(
    _ built: Result<[(suffix: String, file: Data)], any Error>
  ) throws -> String {
    let folder = "hostile-\(UUID().uuidString)"
    let url = try Fixtures.folder(folder)
    for name in names {
      for (suffix, file) in try built.get() {
        let patched = [placeholder, sectionPlaceholder].reduce(file) { bytes, text in
          bytes.replacing(Data(text.utf8), with: Data(name.padded))
        }
        #expect(patched.count == file.count && patched != file)
        let plain = url.appendingPathComponent("plain")
        try patched.write(to: plain)
        let path = Array(url.path.utf8) + [UInt8(ascii: "/")] + name.padded + Array(suffix.utf8)
        // Sound: both end with NUL, and live as long as the call.
        let status = unsafe rename(plain.path, (path + [0]).map { CChar(bitPattern: $0) })
        try #require(status == 0)
      }
    }
    return folder
  }

  private static let directories = Result { (try directory(same), try directory(other)) }

  private static let commands = [
    ["records"], ["sections"], ["hex", "--section", "BeehiveMods"],
    ["hex", "--section", "BeehiveRecords"], ["strings", "--section", "BeehiveMods"], ["verify"],
    ["diff"], ["graph"], ["startup"], ["conformances"],
  ]

  /// A command and one of its formats.
  static let runs = commands.flatMap { command in
    (command == ["graph"] ? ["dot", "mermaid", "json"] : ["table", "json", "ndjson", "csv"])
      .map { command + ["--format", $0] }
  }

  @Test("stay where they belong, whatever is shown of it", arguments: runs)
  func files(run: [String]) throws {
    let (one, other) = try Self.directories.get()
    let outcome = try Tool.run(run + ["-r", one, other])
    #expect((0...2).contains(outcome.status), "\(outcome.errors)")
    try expectTame(outcome)
    try expectWhole(outcome.output, run.last ?? "")
  }

  @Test(
    "and in what is said of a command that is typed wrongly, and of a file that is not there",
    arguments: [
      (["diff", "one", "two", "red\u{1b}[31m"], 64), (["live", "--pid", "red\u{1b}[31m"], 64),
      (["verify", "--require", "red\u{1b}[31m"], 64), (["--format", "red\u{1b}[31m"], 64),
      (["./one\nred\u{1b}[31m"], 2),
    ] as [([String], Int32)])
  func usage(arguments: [String], status: Int32) throws {
    let outcome = try Tool.run(arguments).expect(status, errors: "red\\x1b[31m")
    #expect(!outcome.errors.contains("\u{1b}") && !outcome.errors.contains("\nred"))
  }

  @Test("stay where they belong in a process too")
  func process() throws {
    // The shell names the files, because some names are not text.
    let script =
      "for file in \"$1\"/*.so; do set -- \"$@\" \"open=$file\"; done; exec \"$0\" \"$@\""
    let arguments = ["-c", script, try LiveHost.path(), try Self.directories.get().0]
    try Command.whileRunning("/bin/sh", arguments, in: Fixtures.directory) { pid, _ in
      for format in ["table", "json", "ndjson", "csv"] {
        let outcome = try Tool.run(["live", "--pid", "\(pid)", "--format", format])
        try expectTame(outcome)
        try expectWhole(outcome.output, format)
      }
    }
  }

  /// Expects that only the tool's own line breaks would affect a terminal.
  private func expectTame(_ outcome: Outcome) throws {
    for text in [outcome.output, outcome.errors] {
      // Decoding turns bytes outside UTF-8 into U+FFFD, so the tool itself wrote any wild character.
      let wild = text.unicodeScalars.filter { !isHarmless($0) }
      #expect(wild.isEmpty, "\(wild.map { String($0.value, radix: 16) })")
      let lines = text.split(separator: "\n")
      #expect(!lines.contains { $0.hasPrefix("forged") })
    }
  }

  /// Expects that the JSON formats parse, and keep every name that is text unchanged.
  private func expectWhole(_ output: String, _ format: String) throws {
    guard format.contains("json") else { return }
    let texts = format == "json" ? [output[...]] : output.split(separator: "\n")
    let documents = try texts.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) }
    for name in Self.names {
      guard let text = name.text else { continue }
      #expect(documents.contains { Self.holds(text, $0) }, "\(name.testDescription)")
    }
  }

  /// Returns whether a text is part of a key or value of a document.
  private static func holds(_ text: String, _ document: Any) -> Bool {
    switch document {
    case let object as [String: Any]:
      object.contains { $0.key.contains(text) || holds(text, $0.value) }
    case let array as [Any]: array.contains { holds(text, $0) }
    case let string as String: string.contains(text)
    default: false
    }
  }
}
