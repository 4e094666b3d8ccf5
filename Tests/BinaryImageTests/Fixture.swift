import Foundation
import TestSupport
import Testing

/// Files that the tests compile once per run, from sources that stand in the tests.
///
/// Everything is built into one temporary folder, removed when the process exits; nothing that
/// a compiler made is kept in the repository.
enum Fixture {
  /// Why a fixture could not be built.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static let folder = Result { try Folder() }

  /// The folder that the fixtures stand in.
  static let directory = (try? folder.get().url) ?? URL(fileURLWithPath: "/nonexistent")

  /// Runs a program that must succeed there, and answers what it wrote to standard output.
  @discardableResult
  static func run(_ name: String, _ arguments: [String]) throws -> String {
    try Command.output(name, arguments, in: directory)
  }

  /// Writes a file into the folder and answers its path.
  static func write(_ bytes: some Sequence<UInt8>, as name: String) throws -> String {
    try folder.get().write(Data(bytes), as: name).path
  }

  /// Compiles `source` with a compiler and the given arguments; answers the path of the result.
  ///
  /// A suffix other than `.c` makes it another language: `.s` is assembler.
  static func compile(
    _ source: String, suffix: String = "c", as name: String,
    with compiler: String = Compiler.program, _ arguments: [String]
  ) throws -> String {
    try Compiler.compile(
      source, suffix: suffix, as: name, in: folder.get().url, with: compiler, arguments)
    return path(name)
  }

  /// The bytes of a file.
  static func bytes(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// The path of one of the system's libraries; skips the test where it is not installed.
  static func systemLibrary(_ name: String) throws -> String {
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    // What this process has mapped is there, wherever the system keeps it.
    let mapped = maps.split(separator: "\n").first { $0.hasSuffix("/\(name)") }
      .flatMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    if let mapped { return mapped }
    let folders = [
      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
    ]
    for folder in folders where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
      return "\(folder)/\(name)"
    }
    try Test.cancel("\(name) is not installed")
  }

  /// Cuts the section headers off a file; answers the path of what is left.
  ///
  /// Skips the test where the one tool that does so is not installed.
  static func withoutSections(_ path: String) throws -> String {
    let tool = try Needs.one(of: "llvm-objcopy-19", "llvm-objcopy")
    let stripped = path + ".stripped"
    try run(tool, ["--strip-sections", path, stripped])
    return stripped
  }

  /// Compiles an object with `SHT_CREL`; skips the test where clang does not know how.
  static func compactlyRelocated(_ source: String, as name: String) throws -> String {
    do {
      return try compile(
        source, as: name, with: "clang",
        ["-fPIC", "-O1", "-c", "-Wa,--crel,--allow-experimental-crel"])
    } catch let outcome as Outcome where outcome.errors.contains("--crel") {
      try Test.cancel("clang-19 is not installed")
    }
  }

  /// An object of three entries, with more sections than 16 bits count.
  static func manySections(_ name: String) throws -> String {
    let sections = (0..<66_000).map { ".section .s\($0),\"a\"\n.byte 1\n" }.joined()
    let entries = """
      .section .far,"a"
      text: .asciz "far away"
      named: .asciz "by name"
      .globl named
      .section .rodata
      three: .asciz "Three"
      .section BeehiveMods,"awR"
      .balign 8
      .quad text, named, three

      """
    return try compile(sections + entries, suffix: "s", as: name, ["-c"])
  }

  /// Libraries that each declare modules of their own, as `noted` does; all names are of one length.
  ///
  /// One is compiled, the others are copies in which every text says the other name.
  static func notedLibraries(_ names: [String]) throws -> [String] {
    guard let first = names.first else { return [] }
    let bytes = Data(try Self.bytes(of: library(noted(first), as: "\(first).so")))
    return try names.map { name in
      let own = bytes.replacing(Data(first.utf8), with: Data(name.utf8))
      guard own.count == bytes.count else { throw Failure(description: "\(name) is longer") }
      return try write(own, as: "\(name).so")
    }
  }

  /// Gives a file another length; bytes that were not there are not stored either.
  static func stretch(_ path: String, to length: UInt64) throws {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: length)
    try handle.close()
  }

  /// The path of a file of that name in the folder.
  static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
}
