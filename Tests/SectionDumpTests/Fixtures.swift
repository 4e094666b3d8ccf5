import Foundation
import TestSupport

/// Files that are compiled once per run, from sources that stand here.
enum Fixtures {
  private static let folder = Result { try Folder() }

  /// The directory that all of them stand in, removed when the process ends.
  static let directory = (try? folder.get().url) ?? URL(fileURLWithPath: "/nonexistent")

  /// What an author writes with the header.
  static let annotated = """
    #include <BeeHive.h>
    BeeHiveMod(Shop.ShopModule);
    BeeHiveService(Shop.HomeService, Cache<Key, Value>);
    static bool set_up(const beehive_context *context) { return context != 0; }
    static const beehive_module_operations audio_operations = { .set_up = set_up };
    BEEHIVE_MODULE(audio, &audio_operations,
                   BEEHIVE_PRIORITY(10) BEEHIVE_REQUIRES("log") BEEHIVE_REQUIRES("net"));
    static const struct greeter { int number; } english = { 1 };
    BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english,
                    BEEHIVE_SCOPE("singleton") BEEHIVE_ATTRIBUTE("colour", "a=b"));
    """

  /// What `annotated` registers, as `Tool.lines` says it.
  static let annotatedLines = [
    "module Shop.ShopModule → – 0 {}",
    "service Shop.HomeService → Cache<Key, Value> 0 {}",
    "module audio → audio_operations 10 {abi=c-module requires=[\"log\", \"net\"]}",
    "service Greeter → EnglishGreeter 0 {abi=c-table colour=a=b scope=singleton}",
  ]

  /// What somebody writes who has no header, mistakes included.
  static let handWritten = #"""
    #define ENTRY(name) \
      __attribute__((used, retain, aligned(8), section(name))) static const char *const
    ENTRY("BeehiveMods") good = "Hand.Written";
    ENTRY("BeehiveMods") nothing = 0;
    ENTRY("BeehiveMods") hostile = "Evil\033[31m\033]0;title\007\r\n\x7f\xc2\x9b\xe2\x80\xae.Name";
    ENTRY("BeehiveServices") service = "{ \"Hand.Service\" : \"Hand.\\u0056iew\" }";
    ENTRY("BeehiveServices") damaged = "{ \"\033[2JHand\" }";
    ENTRY("list") first = "one";
    ENTRY("list") second = "two";
    """#

  /// Data whose layout is given word by word, so that every printed address is known.
  static let layout = #"""
    .section BeehiveMods, "aw"
    .quad name, 0, absent
    .section BeehiveServices, "aw"
    .quad pair
    .section BeehiveRecords, "aw"
    .long 64
    .short 1, 1
    .long 0, 32
    .quad 0, 0
    .asciz "audio"
    .asciz "&table"
    .asciz "priority=-3"
    .balign 8
    .long 48
    .short 1, 0x8001
    .long 0, 32
    .quad factory, 0
    .asciz "third party"
    .balign 8
    .section .rodata.names, "a"
    name: .asciz "Shop.Module"
    pair: .asciz "{\"A\":\"B, \\\"C\\\"\"}"
    """#

  /// One result of a compiler: cases of a test that want the same file run beside each other, and none may
  /// read what another is still writing.
  private final class Build: @unchecked Sendable {
    // Sound: the recipe is used with the lock held.
    private let lock = NSLock()
    private var recipe: [String] = []

    /// Runs `body` unless it was run for the same recipe, and what it made is there still.
    func once(_ recipe: [String], makes file: URL, _ body: () throws -> Void) throws {
      try lock.withLock {
        if recipe == self.recipe, FileManager.default.fileExists(atPath: file.path) { return }
        self.recipe = []
        try body()
        self.recipe = recipe
      }
    }
  }

  /// The builds by the names of their results.
  private final class Builds: @unchecked Sendable {
    // Sound: the table is used with the lock held.
    private let lock = NSLock()
    private var table: [String: Build] = [:]

    subscript(name: String) -> Build {
      lock.withLock {
        let build = table[name] ?? Build()
        table[name] = build
        return build
      }
    }
  }

  private static let builds = Builds()

  /// Builds `source` and answers the name of the result, which stands in `directory`.
  static func build(
    _ source: String, as name: String, suffix: String = "c",
    with compiler: String = Compiler.program, _ arguments: [String] = ["-shared", "-fPIC"]
  ) throws -> String {
    let folder = try folder.get().url
    try builds[name].once([source, suffix, compiler] + arguments, makes: place(name)) {
      try Compiler.compile(
        source, suffix: suffix, as: name, in: folder, with: compiler,
        ["-I", Repository.headers] + (suffix == "s" ? ["-Wa,--noexecstack"] : []) + arguments)
    }
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
