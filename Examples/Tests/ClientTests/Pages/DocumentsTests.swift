import Foundation
import Testing

/// Every block of README, Docs and the guides is compiled, run or compared as it reads, or the page says why not. If a
/// page leaves something out, it links to a file that has it, and each of these files is run here.
@Suite struct DocumentsTests {
  private static let folder = "Docs/examples"

  @Test(arguments: try Document.all().map(\.path))
  func `No block is without a test`(page: String) throws {
    let page = try Document(page)
    for block in page.blocks {
      if block.reason != nil { continue }
      // WalkthroughTests follows these.
      if (WalkthroughTests.pages + WalkthroughTests.continuations).contains(page.path),
        block.file != nil || block.language == "sh" || !block.session.isEmpty
      {
        continue
      }
      switch block.language {
      case "swift" where WalkthroughTests.manifests.contains(page.path) && block.isManifest:
        continue  // WalkthroughTests gives it to the package manager.
      case "swift", "c", "sql", "sh":
        let files = page.links.filter {
          ["\(Self.folder)/", "Examples/"].contains(where: $0.hasPrefix)
            && !URL(filePath: $0).pathExtension.isEmpty
        }
        let fits = try files.contains { try block.isExcerpt(of: Repository.text($0)) }
        #expect(fits, "\(page.path): no file of \(files) has the block\n\(block.text)")
      case "json":
        let pages = ["Docs/configuration-files.md", "Docs/decision-table.md"]
        #expect(pages.contains(page.path), "nothing reads\n\(block.text)")
      case "xml", "yaml":
        #expect(page.path == "Docs/configuration-files.md", "nothing reads\n\(block.text)")
      case "text":
        #expect(page.path == "Docs/fleet.md", "Scripts/fleet does not compare\n\(block.text)")
      case "" where !block.session.isEmpty:
        #expect(page.path.hasSuffix("/CallByNameAndURL.md"), "nothing compares\n\(block.text)")
      case "" where block.lines.first?.hasPrefix("section-dump ") == true:
        #expect(page.path == "Docs/section-dump.md", "nothing runs\n\(block.text)")
      default:
        Issue.record(
          "\(page.path): nothing compiles, runs or compares the block \(block.language)\n\(block.text)"
        )
      }
    }
  }

  @Test func `Every file of the examples is run, and a page links to it`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Repository.place(Self.folder).path)
    #expect(
      files.sorted()
        == [
          "daemon.swift", "files.swift", "greetings.swift", "host.c", "host.swift", "plugin.c",
          "plugins.swift", "services.swift", "session.c", "shop.c", "shop.swift", "table.swift",
        ],
      "give a new file a test here")
    let links = try Document.all().flatMap(\.links)
    for file in files { #expect(links.contains("\(Self.folder)/\(file)"), "\(file)") }
  }

  private static func source(_ name: String) throws -> String {
    try Repository.text("\(folder)/\(name)")
  }

  @Test func `The services of the documentation do what it says`() throws {
    let program = try SwiftCompiler.program(try Self.source("services.swift"))
    #expect(
      try Command.output(program) == "Good morning.\na page is disposed of\n2 items\n")
  }

  /// Returns the header that the first guide's plugin and its host share, and the plugin.
  private static func greeting() throws -> (header: String, library: String) {
    let page = try Document("\(Document.guides)/GetStartedInC.md")
    let header = try page.block("c", with: "// greeter.h").text
    return (
      header,
      try SwiftCompiler.library(
        ofC: page.block("c", with: "// greeting.c").text
          .replacing("#include \"greeter.h\"", with: header))
    )
  }

  @Test func `The host of the documentation opens what it is given`() throws {
    let (header, library) = try Self.greeting()
    let folder = try Folder()
    try folder.write(header, as: "greeter.h")
    try folder.write(
      "module CGreeter { header \"greeter.h\" export * }", as: "module.modulemap")
    let program = try SwiftCompiler.program(
      try Self.source("host.swift"), .debug, ["-I", folder.path])
    let output = try Command.output(program, ["./libmissing.so", library])
    #expect(output.hasPrefix("./libmissing.so: cannot open shared object file"), "\(output)")
    #expect(output.contains("started: [\"greeting\"]\nGood morning.\n"), "\(output)")
  }

  @Test func `The plugins of the documentation are read and not loaded`() throws {
    let program = try SwiftCompiler.program(try Self.source("plugins.swift"))
    let library = try SwiftCompiler.library(
      ofC: Self.source("plugin.c") + """
        #include <stdlib.h>
        __attribute__((constructor)) static void run(void) { abort(); }
        static const struct { int greet; } english;
        BEEHIVE_SERVICE(Greeter, English, &english);
        """)
    let folder = URL(filePath: library).deletingLastPathComponent().path
    let output = try Command.output(program, [folder])
    #expect(output.contains("\n[Optional(\"English\")]\n"), "\(output)")
    #expect(output.contains("admitted   service  Greeter → English"), "\(output)")
    #expect(output.contains("com.example.greet"), "\(output)")
    // The strict policy refuses its constructor, so the program goes on without it and unloads nothing.
    #expect(output.contains("[runs-at-startup]"), "\(output)")
    #expect(!output.contains("\nloaded ") && output.contains("\n[]\n"), "\(output)")
  }

  /// Runs the daemon with a plugin, and asks it to end once it says what has started.
  private static func daemon(with plugin: String) throws -> Outcome {
    let program = try SwiftCompiler.program(try source("daemon.swift"))
    let script = """
      exec 3< <(exec stdbuf -oL "$@")
      daemon=$!
      while read -r line <&3; do
        echo "$line"
        [[ $line != started:* ]] || kill "$daemon"
      done
      wait "$daemon"
      """
    return try Command.run("bash", ["-c", script, "daemon", program, plugin], limit: 120)
  }

  @Test func `The daemon of the documentation ends when it is asked to`() throws {
    let outcome = try Self.daemon(with: Self.greeting().library)
    #expect(
      outcome.output
        == """
        Set up in production.
        started: greeting
        ended by SIGTERM; every module was torn down

        """, "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test func `The daemon of the documentation says so if a module fails`() throws {
    let plugin = try SwiftCompiler.library(
      ofC: """
        #include <BeeHive.h>
        static bool set_up(const beehive_context *context) { return !context; }
        static const beehive_module_operations operations = {.set_up = set_up};
        BEEHIVE_MODULE(shop, &operations);
        """)
    let outcome = try Self.daemon(with: plugin)
    #expect(outcome.output.contains("shop"), "\(outcome)")
    #expect(outcome.status == 1)
  }

  /// Compiles and links a program in C with every warning.
  private static func programInC(_ name: String) throws -> String {
    let folder = try Folder()
    let library = Repository.products.path
    try folder.write(try source(name), as: name)
    try Command.output(
      Compiler.program,
      [
        "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", Repository.headers,
        name, "-o", "program", "-L", library, "-lBeeHive", "-Wl,-rpath," + library,
      ], in: folder.url)
    return folder.place("program").path
  }

  @Test func `The factories in C of the documentation do what it says`() throws {
    #expect(
      try Command.output(Self.programInC("session.c")) == "session 7\nsession 7 ends\n")
  }

  @Test func `The host in C of the documentation says what is wrong`() throws {
    let outcome = try Command.run(
      Self.programInC("host.c"), ["./libmissing.so", Self.greeting().library],
      environment: ["BEEHIVE_DISABLE": "greting"])
    let lines = outcome.lines
    #expect(lines.first?.hasPrefix("./libmissing.so: cannot open") == true, "\(outcome)")
    #expect(
      lines.contains { $0.hasPrefix("service Greeter, ") && $0.hasSuffix("nothing is wrong") })
    #expect(lines.last?.hasPrefix("greting is switched off") == true, "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test func `The library with macros greets, beside a module that it requires`() throws {
    let plugin = try SwiftCompiler.plugin(
      try Self.source("greetings.swift"), .debug, module: "Greetings", ["-lContracts"])
    let output = try Command.output(try Client.host.get(), [plugin])
    #expect(output.contains("service Greeter Greetings.EnglishGreeter"))
    #expect(output.contains("Good morning, Ada."))
    #expect(output.contains("running [\"log\", \"Greetings.ShopModule\"]"))
    // Of the protocols that it conforms to, BeeHive's have a version that it refers to.
    let refused = try Command.run(
      Repository.sectionDump,
      ["doctor", plugin, "--host", Client.host.get(), "--strict", "--any-owner"])
    #expect(refused.output.contains("conforms to the Contracts.Greeter of"), "\(refused)")
    #expect(!refused.output.contains("conforms to the BeeHive."), "\(refused)")
  }

  @Test func `The calls by name and by URL are answered`() throws {
    let macros = try MacroPlugin.parts.get()
    let program = try SwiftCompiler.program(
      try Self.source("shop.swift"), .debug, asLibrary: true,
      macros.toCompile + macros.toLink + SwiftCompiler.objects(of: "CBeeHiveAnchor"))
    let table = try Folder().write(#"{"version": 1, "rules": []}"#, as: "table.json")
    let output = try Command.output(program, [table.path])
    let page = try Document("\(Document.guides)/CallByNameAndURL.md")
    let shown = try page.block("", with: "$ swift run Shop").session.map(\.output)
    #expect(shown == [output.replacing(" Host ", with: " Shop ")], "\(output)")
  }

  @Test func `A target and a route in C are called from Swift`() throws {
    let plugin = try SwiftCompiler.library(ofC: Self.source("shop.c"))
    let program = try SwiftCompiler.program(
      """
      import BeeHiveRouting
      import BeeHive
      import Glibc
      @main enum Program {
        static func main() async throws {
          _ = dlopen(CommandLine.arguments[1], RTLD_NOW)
          let hive = Hive.process
          let named: Int = try await hive.mediator.perform("stock", "count", ["sku": "a1"])
          let opened = try await hive.router.open("app://stock/a1", origin: .remote)
          print(named, opened)
        }
      }
      """)
    #expect(try Command.output(program, [plugin]) == "3 3\n")
  }

  /// A table of the page, and its program's answer to a URL.
  @Test(arguments: [
    ("november", "app://detail/7", "app://detail/:id"), ("advent", "app://offer", "app://update"),
  ])
  func `The tables of the documentation are loaded`(name: String, url: String, says: String) throws
  {
    let page = try Document("Docs/decision-table.md")
    let file = try Folder().write(page.block("json", with: name).text, as: "table.json")
    let outcome = try Command.run(try Self.table.get(), [file.path, url])
    #expect(outcome.status == 0 && outcome.output.contains(says), "\(outcome)")
  }

  /// A test of the package loads the examples in all formats: ConfigurationFilesTests.
  @Test func `The files of the documentation configure a host`() throws {
    let page = try Document("Docs/configuration-files.md")
    let folder = try Folder()
    for (name, word) in [
      ("modules", "moduleClasses"), ("settings", "currency"), ("aliases", "app://shop/home"),
    ] {
      try folder.write(page.block("json", with: word).text, as: "\(name).json")
    }
    let program = try SwiftCompiler.program(try Self.source("files.swift"))
    let said = try Command.output(program, [folder.path])
    #expect(said.contains("modules.json services[0]"), "\(said)")
    #expect(said.hasSuffix("port 8080, prices in CHF\nthe shop PaperCart()\n"), "\(said)")
    try folder.write(#"{"moduleClases": []}"#, as: "modules.json")
    let wrong = try Command.run(program, [folder.path]).output
    #expect(wrong.hasPrefix("modules.json, at moduleClases: "), "\(wrong)")
  }

  @Test func `No table of the documentation is left out`() throws {
    let page = try Document("Docs/decision-table.md")
    #expect(page.blocks.count { $0.language == "json" } == 2)
  }

  private static let table = Result { try SwiftCompiler.program(try source("table.swift")) }

  @Test func `The tool has the commands and options that its page shows`() throws {
    let page = try Document("Docs/section-dump.md")
    let lines = try page.block("", with: "section-dump hex").lines
    for line in lines where line.hasPrefix("section-dump ") {
      let words = line.split(separator: " ").map { $0.trimmingCharacters(in: ["[", "]"]) }
      let help = try Command.output(Repository.sectionDump, ["help", words[1]])
      for option in words where option.hasPrefix("--") {
        #expect(help.contains(option), "\(words[1]) has no \(option)")
      }
    }
  }
}
