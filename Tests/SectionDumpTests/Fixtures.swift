import Foundation
import TestSupport
import Threads

/// Files that are compiled once per run, from sources in the tests.
enum Fixtures {
  private static let folder = Result { try Folder() }

  /// The directory of all these files, removed when the process ends.
  static let directory = (try? folder.get().url) ?? URL(fileURLWithPath: "/nonexistent")

  /// Returns a source of `Tests/Fixtures/SectionDump`.
  static func source(_ name: String) -> String {
    (try? Repository.fixture("SectionDump/\(name)")) ?? ""
  }

  /// Entries as an author writes them with the header.
  static let annotated = source("annotated.c")

  /// The entries of `annotated`, as `Tool.lines` gives them.
  static let annotatedLines = [
    "module Shop.ShopModule → – 0 {}",
    "service Shop.HomeService → Cache<Key, Value> 0 {}",
    "module audio → audio_operations 10 {abi=c-module requires=[\"log\", \"net\"]}",
    "service Greeter → EnglishGreeter 0 {abi=c-table colour=a=b scope=singleton}",
  ]

  /// Entries written without the header, including mistakes.
  static let handWritten = source("hand-written.c")

  /// Data whose layout is given word by word, so that every printed address is known.
  static let layout = source("layout.s")

  /// The recipe of each built file, by its name. Cases of a test that want the same file run at the same time. No case
  /// may read a file that another is still writing.
  private static let recipes = Lock<[String: Lock<[String]>]>([:])

  /// Builds `source` in `directory` and returns the name of the result.
  static func build(
    _ source: String, as name: String, suffix: String = "c",
    with compiler: String = Compiler.program, _ arguments: [String] = ["-shared", "-fPIC"]
  ) throws -> String {
    let folder = try folder.get().url
    let recipe = [source, suffix, compiler] + arguments
    let made = recipes.withLock { recipes in
      let made = recipes[name] ?? Lock([])
      recipes[name] = made
      return made
    }
    try made.withLock { known in
      if known == recipe, FileManager.default.fileExists(atPath: place(name).path) { return }
      known = []
      try Compiler.compile(
        source, suffix: suffix, as: name, in: folder, with: compiler,
        ["-I", Repository.headers] + (suffix == "s" ? ["-Wa,--noexecstack"] : []) + arguments)
      known = recipe
    }
    return name
  }

  /// Compiles Swift into a library, or into the kind that `emit` gives, and returns its name.
  static func swift(
    _ source: String, as name: String, module: String, emit: String = "-emit-library"
  ) throws -> String {
    try Compiler.swift(source, module: module, as: name, in: directory, emit: emit)
    return name
  }

  /// Builds a file of exactly the bytes that assembler makes of `source`.
  @discardableResult
  static func raw(_ source: String, as name: String) throws -> String {
    let object = try build(source, as: "\(name).o", suffix: "s", ["-c"])
    try tool("objcopy", ["-O", "binary", "-j", ".text", object, name])
    return name
  }

  /// Returns an ELF header for x86-64 in assembler. The program headers follow it.
  static func header(type: Int, segments: Int, at table: String = "64") -> String {
    """
    .byte 0x7f, 0x45, 0x4c, 0x46, 2, 1, 1
    .zero 9
    .short \(type), 62, 1, 0
    .quad 0, \(table), 0
    .short 0, 0, 64, 56, \(segments), 64, 0, 0
    """
  }

  /// Returns the location of a file of that name in the directory.
  static func place(_ name: String) -> URL { directory.appendingPathComponent(name) }

  /// Makes a folder of that name in the directory, unless it exists.
  @discardableResult
  static func folder(_ name: String) throws -> URL {
    let folder = place(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  static func bytes(_ name: String) throws -> Data { try Data(contentsOf: place(name)) }

  /// Writes copies of a file, each with one byte overwritten, and returns the list of their paths for `--stdin0`.
  static func overwritten(
    _ bytes: Data, at positions: [Int], by values: [UInt8], in folder: Folder
  ) throws -> Data {
    let copies = positions.flatMap { position in
      values.filter { bytes[position] != $0 }.map { value in
        var copy = bytes
        copy[position] = value
        return copy
      }
    }
    return Data(try Sweep.write(copies, in: folder.url).joined(separator: "\0").utf8)
  }

  /// Builds a library of the annotated source, under a name of the test's own.
  static func annotatedLibrary(_ name: String) throws -> String {
    try build(annotated, as: name, ["-shared", "-fPIC", "-O2"])
  }

  /// Returns the header of an archive member: name and size as given.
  static func memberHeader(_ name: String, _ size: String) -> Data {
    let fields = [(name, 16), ("0", 12), ("0", 6), ("0", 6), ("644", 8), (size, 10)]
    let texts = fields.map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
    return Data((texts.joined() + "`\n").utf8)
  }

  /// Runs a program that must succeed, in `directory`.
  @discardableResult
  static func tool(_ name: String, _ arguments: [String]) throws -> String {
    try Command.output(name, arguments, in: directory)
  }

  /// Runs a program to its end, in `directory`.
  static func run(
    _ program: String, _ arguments: [String], input: Data? = nil,
    environment: [String: String] = [:]
  ) throws -> Outcome {
    try Command.run(program, arguments, in: directory, input: input, environment: environment)
  }
}
