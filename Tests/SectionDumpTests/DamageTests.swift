import Foundation
import Testing

/// Files that were cut off or overwritten, through the whole tool: one process reads thousands.
@Suite(
  "Damaged files",
  .enabled(
    if: ProcessInfo.processInfo.environment["SANITIZER"] == nil,
    "a sanitizer reserves terabytes, and the limit is one of address space"))
struct DamageTests {
  /// One of each way to find records.
  static let fixtures = [
    "elf-bfd.so", "elf-lld-relr.so", "elf-gcc.o", "macho-arm64-fixup-chains.dylib",
    "universal.dylib", "archive-gnu.a", "archive-bsd.a", "universal.a",
  ]

  @Test(
    "that were cut off show the same entries or a problem, in bounded time and memory",
    arguments: fixtures.filter(Linkages.built.contains))
  func cut(name: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: Linkages.path(name)))
    let lengths = Array(0..<min(4096, bytes.count)) + stride(from: 4096, to: bytes.count, by: 64)
    // An archive that was cut off behind its first eight bytes is a whole one, without members.
    let variants = lengths.filter { !name.hasSuffix(".a") || $0 != 8 }
      .map { ("cut at \($0)", bytes.prefix($0)) }
    let different = try Self.silentlyDifferent(variants, from: name)
    #expect(different.isEmpty, "\(different)")
  }

  /// Every form of archive and universal file.
  static let containers = [
    "archive-gnu.a", "archive-bsd.a", "archive-darwin.a", "archive-sym64.a", "archive-nested.a",
    "archive-universal.a", "universal.dylib", "universal-64.dylib", "universal.o", "universal.a",
  ]

  @Test(
    "that hold others show the same entries or a problem, whichever byte of a header is another",
    arguments: containers.filter(Linkages.built.contains))
  func overwritten(name: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: Linkages.path(name)))
    let headers = Self.headers(of: bytes)
    #expect(headers.count > 20)
    let variants = headers.flatMap { position in
      // The second turns the digit 0 into a blank.
      ([0x01, 0x10, 0xff] as [UInt8]).map { bits -> (String, Data) in
        var copy = bytes
        copy[position] ^= bits
        return ("byte \(position), \(copy[position]) in place of \(bytes[position])", copy)
      }
    }
    let different = try Self.silentlyDifferent(variants, from: name)
    #expect(different.isEmpty, "\(different)")
  }

  /// Where the container's own headers, indices and names stand; those of its members not.
  private static func headers(of bytes: Data) -> [Int] {
    guard bytes.starts(with: Data("!<arch>\n".utf8)) else {
      return Array(0..<8 + Int(bytes[7]) * (bytes[3] == 0xbf ? 32 : 20))
    }
    var places = Array(0..<8)
    var position = 8
    while position + 60 <= bytes.count {
      func field(_ start: Int, _ count: Int) -> String {
        let range = position + start..<position + start + count
        return String(decoding: bytes[range], as: UTF8.self).trimmingCharacters(in: .whitespaces)
      }
      // Owner, dates and mode say nothing of the contents.
      places += position..<position + 16
      places += position + 48..<position + 60
      let size = Int(field(48, 10)) ?? 0
      if field(0, 16).hasPrefix("#1/") {
        places += position + 60..<position + 60 + (Int(field(3, 13)) ?? 0)
      } else if ["/", "//", "/SYM64/"].contains(field(0, 16)) {
        places += position + 60..<position + 60 + min(size, 64)
      }
      position += 60 + size + size % 2
    }
    return places
  }

  /// The variants of a file that show other entries than the file, and no problem.
  private static func silentlyDifferent(
    _ variants: [(name: String, bytes: Data)], from name: String
  ) throws -> [String] {
    let directory = Fixtures.directory.appendingPathComponent("damaged-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    var list = Data()
    for (number, variant) in variants.enumerated() {
      let file = directory.appendingPathComponent(String(number))
      try variant.bytes.write(to: file)
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
    let whole = try Tool.files([Linkages.path(name)]).flatMap(Tool.lines).sorted()
    return variants.enumerated().compactMap { number, variant in
      let path = directory.appendingPathComponent(String(number)).path
      guard !damaged.contains(path), entries[path, default: []].sorted() != whole else {
        return nil
      }
      return variant.name
    }
  }
}
