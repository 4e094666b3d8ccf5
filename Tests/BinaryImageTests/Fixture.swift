import Foundation
import TestSupport
import Testing

/// Files that the tests compile once per run, from sources in the tests.
///
/// Everything is built into one temporary folder, which is removed when the process exits. The repository keeps no
/// compiled file.
enum Fixture {
  /// The reason why a fixture could not be built.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static let folder = Result { try Folder() }

  /// The folder of the fixtures.
  static let directory = (try? folder.get().url) ?? URL(fileURLWithPath: "/nonexistent")

  /// Runs a program in the folder and returns its standard output. The program must succeed.
  @discardableResult
  static func run(_ name: String, _ arguments: [String]) throws -> String {
    try Command.output(name, arguments, in: directory)
  }

  /// Writes a file into the folder and returns its path.
  static func write(_ bytes: some Sequence<UInt8>, as name: String) throws -> String {
    try folder.get().write(Data(bytes), as: name).path
  }

  /// Compiles `source` with a compiler and the given arguments; returns the path of the result.
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

  static func bytes(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Returns the path of a system library; skips the test if it is not installed.
  static func systemLibrary(_ name: String) throws -> String {
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    // A library that this process has mapped exists, wherever the system keeps it.
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

  /// Cuts the section headers off a file and returns the path of the result.
  ///
  /// Skips the test if llvm-objcopy, the only tool for that, is not installed.
  static func withoutSections(_ path: String) throws -> String {
    let tool = try Needs.one(of: "llvm-objcopy-19", "llvm-objcopy")
    let stripped = path + ".stripped"
    try run(tool, ["--strip-sections", path, stripped])
    return stripped
  }

  /// Compiles an object with `SHT_CREL`; skips the test if clang cannot make it.
  static func compactlyRelocated(_ source: String, as name: String) throws -> String {
    do {
      return try compile(
        source, as: name, with: "clang",
        ["-fPIC", "-O1", "-c", "-Wa,--crel,--allow-experimental-crel"])
    } catch let outcome as Outcome where outcome.errors.contains("--crel") {
      try Test.cancel("clang-19 is not installed")
    }
  }

  /// Builds an object of three entries, with more sections than 16 bits can count.
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

  /// Builds libraries that each declare modules of their own, as `noted` does. All names have one length.
  ///
  /// The first one is compiled. The others are copies with the name replaced in every text.
  static func notedLibraries(_ names: [String]) throws -> [String] {
    guard let first = names.first else { return [] }
    let bytes = Data(try Self.bytes(of: library(noted(first), as: "\(first).so")))
    return try names.map { name in
      let own = bytes.replacing(Data(first.utf8), with: Data(name.utf8))
      guard own.count == bytes.count else { throw Failure(description: "\(name) is longer") }
      return try write(own, as: "\(name).so")
    }
  }

  /// Gives a file another length. Bytes that this adds are a hole and take no storage.
  static func stretch(_ path: String, to length: UInt64) throws {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: length)
    try handle.close()
  }

  /// Returns the path of a file in the folder.
  static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
}
