import Foundation
import TestSupport
import Threads

/// Files that are compiled once per run, from sources that stand here.
enum Fixtures {
  private static let folder = Result { try Folder() }

  /// The directory that all of them stand in, removed when the process ends.
  static let directory = (try? folder.get().url) ?? URL(fileURLWithPath: "/nonexistent")

  /// A source of `Tests/Fixtures/SectionDump`.
  static func source(_ name: String) -> String {
    (try? Repository.fixture("SectionDump/\(name)")) ?? ""
  }

  /// Entries as an author writes them with the header.
  static let annotated = source("annotated.c")

  /// The entries of `annotated`, as `Tool.lines` says it.
  static let annotatedLines = [
    "module Shop.ShopModule → – 0 {}",
    "service Shop.HomeService → Cache<Key, Value> 0 {}",
    "module audio → audio_operations 10 {abi=c-module requires=[\"log\", \"net\"]}",
    "service Greeter → EnglishGreeter 0 {abi=c-table colour=a=b scope=singleton}",
  ]

  /// Entries of somebody who has no header, mistakes included.
  static let handWritten = source("hand-written.c")

  /// Data whose layout is given word by word, so that every printed address is known.
  static let layout = source("layout.s")

  /// The recipe of each file that was built, by its name. Cases of a test that want the same file run beside each other,
  /// and none may read what another is still writing.
  private static let recipes = Lock<[String: Lock<[String]>]>([:])

  /// Builds `source` and answers the name of the result, which stands in `directory`.
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

  /// Compiles Swift into a library, or what `emit` says, and answers its name.
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

  /// An ELF header for x86-64 in assembler; the program headers follow it.
  static func header(type: Int, segments: Int, at table: String = "64") -> String {
    """
    .byte 0x7f, 0x45, 0x4c, 0x46, 2, 1, 1
    .zero 9
    .short \(type), 62, 1, 0
    .quad 0, \(table), 0
    .short 0, 0, 64, 56, \(segments), 64, 0, 0
    """
  }

  /// The place of a file of that name in the directory.
  static func place(_ name: String) -> URL { directory.appendingPathComponent(name) }

  /// Makes a folder of that name in the directory, unless it is there.
  @discardableResult
  static func folder(_ name: String) throws -> URL {
    let folder = place(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// The bytes of a file of that name in the directory.
  static func bytes(_ name: String) throws -> Data { try Data(contentsOf: place(name)) }

  /// A list of paths for `--stdin0`, of copies of a file that are overwritten in one byte each.
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

  /// A library of the annotated source, under a name of the test's own.
  static func annotatedLibrary(_ name: String) throws -> String {
    try build(annotated, as: name, ["-shared", "-fPIC", "-O2"])
  }

  /// A header of a member of an archive: name and size as given.
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
