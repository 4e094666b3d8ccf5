import Foundation
import Testing

/// A shared library that was written only in Swift, on disk and in a process.
@Suite struct PluginTests {
  private static let source = """
    import BeeHive
    import BeeHiveAnnotations

    public protocol Greeter: Sendable {
      func greet() -> String
    }

    @BeeHiveService(
      (any Greeter).self, (any Farewell).self, name: "en", scope: .singleton, priority: -5)
    public final class English: Greeter, Farewell {
      private init() {}
      public func greet() -> String { "Hello" }
    }

    @BeeHiveService((any Greeter).self, priority: 1)
    @BeeHiveService((any Shop.Farewell).self)
    struct French: Greeter, Farewell {
      func greet() -> String { "Bonjour" }
    }

    protocol Farewell: Sendable {}

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

    /// A service is a type, whatever it is called.
    public typealias Saluter = any Greeter

    @BeeHiveService(Saluter.self, name: "alias")
    struct Dutch: Greeter {
      func greet() -> String { "Hallo" }
    }

    @BeeHiveService((any Greeter & Sendable).self, name: "composed")
    struct Danish: Greeter {
      func greet() -> String { "Hej" }
    }

    @BeeHiveModule(level: .basic, priority: 7, requires: "log", after: ["audio", "metrics"])
    struct ShopModule: Module {}

    /// Called by the host, which knows none of these types.
    @_cdecl("say") public func say() {
      let hive = Hive.process
      for name in ["en", "low", "swiss", "alias", "composed"] {
        print(name, (try? hive.service((any Greeter).self, name: name))?.greet() ?? "nothing")
      }
      print("all", (try? hive.all(of: (any Greeter).self))?.map { $0.greet() } ?? [])
      let isOne = (try? hive.service((any Greeter).self, name: "en")) as? English
        === (try? hive.service((any Farewell).self, name: "en")) as? English
      print("one English", isOne)
    }
    """

  private static let expected = [
    "module Shop.ShopModule → – 7 level=basic requires=log after=audio,metrics",
    "service Farewell → Shop.English -5 scope=singleton name=en shared=Greeter en",
    "service Greeter & Sendable → Shop.Danish 0 name=composed",
    "service Greeter → Shop.English -5 scope=singleton name=en shared=Greeter en",
    "service Greeter → Shop.French 1",
    "service Greeter → Shop.German.Low 0 name=low",
    "service Greeter → Shop.German.Swiss 0 name=swiss",
    "service Saluter → Shop.Dutch 0 name=alias",
    "service Shop.Farewell → Shop.French 0",
  ]

  /// The plugin as each mode compiles it, once for all tests.
  private static let debug = Result { try SwiftCompiler.plugin(source, .debug) }
  private static let release = Result { try SwiftCompiler.plugin(source, .release) }

  private static func plugin(_ mode: SwiftCompiler.Mode) throws -> String {
    switch mode {
    case .debug: try debug.get()
    case .release: try release.get()
    default: try SwiftCompiler.plugin(source, mode)
    }
  }

  @Test(arguments: SwiftCompiler.Mode.allCases)
  func everyEntryStandsInTheFile(mode: SwiftCompiler.Mode) throws {
    let file = try SectionDump.read(try Self.plugin(mode))
    #expect(file.problems == 0)
    #expect(file.records.map(\.line).sorted() == Self.expected)
    #expect(file.records.allSatisfy { $0.section == "BeehiveRecords" && $0.accessor != nil })
  }

  /// Swift cannot write the note that locates the entries, nor the call that announces the image.
  @Test(arguments: [SwiftCompiler.Mode.debug, .release])
  func theAnchorComesAlong(mode: SwiftCompiler.Mode) throws {
    try Anchor.expect(in: try Self.plugin(mode))
  }

  @Test(arguments: [SwiftCompiler.Mode.debug, .release])
  func aHostResolvesWhatThePluginOffers(mode: SwiftCompiler.Mode) throws {
    let library = try Self.plugin(mode)
    let outcome = try Command.run(try Self.program.get(), [library])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.lines == [
        "before 0",
        "bound module Shop.ShopModule",
        "bound service Farewell",
        "bound service Greeter", "bound service Greeter", "bound service Greeter",
        "bound service Greeter", "bound service Greeter & Sendable", "bound service Saluter",
        "bound service Shop.Farewell",
        "en Hello", "low Moin", "swiss Grüezi", "alias Hallo", "composed Hej",
        #"all ["Bonjour", "Moin", "Grüezi", "Hallo", "Hej", "Hello"]"#,
        "one English true",
        #"running ["log", "Shop.ShopModule"]"#,
      ])
  }

  private static let program = Result { try SwiftCompiler.program(host) }

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
