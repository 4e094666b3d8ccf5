import Foundation
import Testing

/// A shared library that was written in Swift alone, on disk and in a process.
@Suite struct PluginTests {
  private static let source = """
    import BeeHive
    import BeeHiveAnnotations

    public protocol Greeter: Sendable {
      func greet() -> String
    }

    @BeeHiveService((any Greeter).self, name: "en", scope: .singleton, priority: -5)
    public final class English: Greeter {
      private init() {}
      public func greet() -> String { "Hello" }
    }

    @BeeHiveService((any Greeter).self, priority: 1)
    @BeeHiveService((any Shop.Farewell).self)
    struct French: Greeter, Farewell {
      func greet() -> String { "Bonjour" }
    }

    protocol Farewell {}

    enum German: Greeter {
      case high
      init() { self = .high }
      func greet() -> String { "Guten Tag" }

      @BeeHiveService((any Greeter).self, name: "low")
      private actor Low: Greeter {
        nonisolated func greet() -> String { "Moin" }
      }
    }

    extension German {
      @MainActor @BeeHiveService((any Greeter).self, name: "swiss")
      fileprivate final class Swiss: Greeter {
        nonisolated init() {}
        nonisolated func greet() -> String { "Grüezi" }
      }
    }

    @BeeHiveModule(level: .basic, priority: 7, requires: "log", after: ["audio", "metrics"])
    struct ShopModule: Module {}

    /// Called by the host, which knows none of these types.
    @_cdecl("say") public func say() {
      let hive = Hive.process
      for name in ["en", "low", "swiss"] {
        print(name, (try? hive.service((any Greeter).self, name: name))?.greet() ?? "nothing")
      }
      print("all", (try? hive.all(of: (any Greeter).self))?.map { $0.greet() } ?? [])
      let isOne = (try? hive.service((any Greeter).self, name: "en")) as? English
        === (try? hive.service((any Greeter).self, name: "en")) as? English
      print("one English", isOne)
    }
    """

  private static let expected = [
    "module Shop.ShopModule → – 7 level=basic requires=log after=audio,metrics",
    "service Greeter → Shop.English -5 scope=singleton name=en",
    "service Greeter → Shop.French 1",
    "service Greeter → Shop.German.Low 0 name=low",
    "service Greeter → Shop.German.Swiss 0 name=swiss",
    "service Shop.Farewell → Shop.French 0",
  ]

  @Test(arguments: SwiftCompiler.Mode.allCases)
  func everyEntryStandsInTheFile(mode: SwiftCompiler.Mode) throws {
    let file = try SectionDump.read(try SwiftCompiler.plugin(Self.source, mode))
    #expect(file.problems == 0)
    #expect(file.records.map(\.line).sorted() == Self.expected)
    #expect(file.records.allSatisfy { $0.section == "BeehiveRecords" && $0.accessor != nil })
  }

  /// A person who reads a file need not know which language wrote it.
  @Test func recordsOfSwiftAndCSayTheSame() throws {
    let (swift, c) = try twins()
    let lines = try [swift, c].map { try SectionDump.read($0).records.map(\.line) }
    #expect(lines[0] == ["service Greeter → Shop.English -5 scope=singleton name=en"])
    #expect(lines[0] == lines[1])
  }

  /// Nor need a program: the bytes are the same, but for the pointers, which lead to a function here
  /// and to a table there, and for the attribute that says what kind of table.
  @Test func recordsOfSwiftAndCAreTheSameBytes() throws {
    let (swift, c) = try twins()
    var expected = try Self.section(of: c)
    let text = expected[32...].split(separator: 0).filter { !$0.starts(with: "abi=".utf8) }
    expected[32...] = ArraySlice(text.flatMap { $0 + [0] })
    expected += Array(repeating: 0, count: (8 - expected.count % 8) % 8)
    expected[0] = UInt8(expected.count)
    var written = try Self.section(of: swift)
    for position in 16..<32 { (written[position], expected[position]) = (0, 0) }
    #expect(written == expected)
    #expect(
      Array(written[..<16]) == [UInt8(written.count), 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 32, 0, 0, 0])
  }

  /// The bytes of the section, as they stand in the file.
  private static func section(of file: String) throws -> [UInt8] {
    let output = SwiftCompiler.folder.appending(path: "section-\(UUID().uuidString)")
    let outcome = try SwiftCompiler.run(
      ["objcopy", "-O", "binary", "--only-section=BeehiveRecords", file, output.path()])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try [UInt8](Data(contentsOf: output))
  }

  /// Two libraries with the same one entry, in Swift and in C.
  private func twins() throws -> (swift: String, c: String) {
    let swift = try SwiftCompiler.plugin(
      """
      import BeeHiveAnnotations
      protocol Greeter {}
      @BeeHiveService((any Greeter).self, name: "en", scope: .singleton, priority: -5)
      struct English: Greeter {}
      """, .release)
    let c = try SwiftCompiler.library(
      ofC: """
        #include <BeeHive.h>
        static const struct greeter { int dummy; } table = { 1 };
        BEEHIVE_SERVICE(Greeter, Shop.English, &table,
                        BEEHIVE_NAME("en") BEEHIVE_SCOPE("singleton") BEEHIVE_PRIORITY(-5));
        """)
    return (swift, c)
  }

  /// Swift cannot write the note that locates the entries, nor the call that announces the image.
  @Test(arguments: [SwiftCompiler.Mode.debug, .release])
  func theAnchorComesAlong(mode: SwiftCompiler.Mode) throws {
    try Anchor.expect(in: try SwiftCompiler.plugin(Self.source, mode))
  }

  @Test(arguments: [SwiftCompiler.Mode.debug, .release])
  func aHostResolvesWhatThePluginOffers(mode: SwiftCompiler.Mode) throws {
    let library = try SwiftCompiler.plugin(Self.source, mode)
    let host = try SwiftCompiler.program(Self.host)
    let outcome = try SwiftCompiler.run([host, library])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.split(separator: "\n").map(String.init) == [
        "before 0",
        "bound module Shop.ShopModule",
        "bound service Greeter", "bound service Greeter", "bound service Greeter",
        "bound service Greeter", "bound service Shop.Farewell",
        "en Hello", "low Moin", "swiss Grüezi",
        #"all ["Bonjour", "Moin", "Grüezi", "Hello"]"#,
        "one English true",
        #"running ["log", "Shop.ShopModule"]"#,
      ])
  }

  private static let host = #"""
    import BeeHive
    import Glibc

    struct Log: Module {}

    @main enum Host {
      static func main() async throws {
        let hive = Hive.process
        print("before", hive.entries.count)
        typealias Say = @convention(c) () -> Void
        guard let plugin = dlopen(CommandLine.arguments[1], RTLD_NOW | RTLD_LOCAL),
          let say = dlsym(plugin, "say")
        else { return print(String(cString: dlerror())) }
        let entries = hive.entries.map {
          "\($0.state == .bound ? "bound" : "not bound") \($0.kind) \($0.name)"
        }
        for entry in entries.sorted() { print(entry) }
        unsafeBitCast(say, to: Say.self)()
        try await hive.register(module: Log.self, name: "log", level: .basic)
        try await hive.start()
        print("running", await hive.runningModules)
      }
    }
    """#
}
