import Foundation
import Testing

/// Files that were cut off, through the whole tool: one process reads thousands of them.
@Suite("Cut off files")
struct DamageTests {
  /// One of each way to find records.
  static let fixtures = [
    "elf-bfd.so", "elf-lld-relr.so", "elf-gcc.o", "macho-arm64-fixup-chains.dylib",
    "universal.dylib", "archive-gnu.a", "archive-bsd.a", "universal.a",
  ]

  @Test(
    "show the same entries or a problem, in bounded time and memory",
    .enabled(
      if: ProcessInfo.processInfo.environment["SANITIZER"] == nil,
      "a sanitizer reserves terabytes, and the limit is one of address space"),
    arguments: fixtures.filter(Linkages.built.contains))
  func cut(name: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: Linkages.path(name)))
    let directory = Fixtures.directory.appendingPathComponent("cut-\(name)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let lengths = Array(0..<min(4096, bytes.count)) + stride(from: 4096, to: bytes.count, by: 64)
    var list = Data()
    for length in lengths {
      let file = directory.appendingPathComponent(String(length))
      try bytes.prefix(length).write(to: file)
      list += Data(file.path.utf8) + [0]
    }
    let arguments = [
      "--as=402653184", Tool.products.appendingPathComponent("section-dump").path, "--stdin0",
      "--format", "ndjson",
    ]
    let outcome = try Fixtures.run("prlimit", arguments, input: list, limit: 120)
    #expect(outcome.status == 2)

    var entries: [String: [String]] = [:]
    var damaged: Set<String> = []
    for line in outcome.output.split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      let file = try #require(object as? [String: Any])
      let path = try #require(file["path"] as? String)
      entries[path, default: []] += try Tool.lines(file)
      if try !#require(file["problems"] as? [Any]).isEmpty { damaged.insert(path) }
    }
    let whole = try Tool.files([Linkages.path(name)]).flatMap(Tool.lines)
    for length in lengths {
      let path = directory.appendingPathComponent(String(length)).path
      // An archive that was cut off behind its first eight bytes is a whole one, without members.
      if name.hasSuffix(".a"), length == 8 { continue }
      if !damaged.contains(path), entries[path]?.sorted() != whole.sorted() {
        Issue.record("\(length) bytes show \(entries[path] ?? []), and no problem")
      }
    }
  }
}
