import Foundation
import Testing

/// Follows the pages that take a reader from an empty folder to something that runs: their files, their command lines,
/// and their output. Steps that take minutes are left out: the libraries are those that were built with these tests.
/// `Scripts/test newcomer` leaves nothing out.
@Suite struct WalkthroughTests {
  private static let swift = ["With", "Without"].map {
    "\(Document.guides)/GetStartedInSwift\($0)Macros.md"
  }
  private static let c =
    ["README.md"]
    + ["GetStartedInC", "GetStartedInCpp", "CheckYourBuildInCI", "FindOutWhyMyModuleDoesNotAppear"]
    .map { "\(Document.guides)/\($0).md" }
  /// All pages.
  static let pages = swift + c
  /// Pages that continue another page. Only `Scripts/test newcomer` follows them.
  static let continuations = ["\(Document.guides)/TestYourModules.md"]
  /// Pages with manifests of the package manager.
  static let manifests =
    swift + continuations
    + ["WriteAHost", "PackageAPlugin"].map { "\(Document.guides)/\($0).md" }

  @Test(arguments: c, ["gcc", "clang"])
  func `A page does what it says, with every warning`(page: String, compiler: String) throws {
    let cxx = compiler == "gcc" ? "g++" : "clang++"
    try Needs.programs(compiler, cxx)
    let (page, folder) = (try Document(page), try Folder())
    // The objects of -flto are the compiler's own.
    if compiler == "clang", page.blocks.contains(where: { $0.text.contains(" -flto ") }) { return }
    for (name, place) in [
      ("CSupport", Repository.place("CSupport")), (".build/debug", Repository.products),
    ] {
      let link = folder.place("swift-beehive/\(name)")
      try FileManager.default.createDirectory(
        at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
    }
    let warnings = "-Wall -Wextra -Wpedantic -Werror"
    try Walkthrough(page, in: folder).walk { command in
      command.replacing(#/(?m)^(git .*clone|swift build) .*$/#, with: ":")
        .replacing(#/(?m)^gcc /#, with: "\(compiler) \(warnings) ")
        .replacing(#/(?m)^g\+\+ /#, with: "\(cxx) \(warnings) ")
    }
  }

  /// Builds the page as the package manager would, without the package manager.
  private static func build(_ page: Document, in folder: Folder) throws -> String {
    func source(_ file: String) throws -> String {
      try page.block(file.hasSuffix(".c") ? "c" : "swift", with: "// \(file)").text
    }
    func compile(_ file: String, module: String, _ arguments: [String]) throws {
      let outcome = try SwiftCompiler.compile(
        source(file), .debug, module: module,
        [
          "-parse-as-library", "-emit-library", "-o", folder.place("lib\(module).so").path,
          "-emit-module", "-emit-module-path", folder.place("\(module).swiftmodule").path,
        ] + arguments)
      guard outcome.status == 0 else { throw outcome }
    }
    try compile("Contracts/Sources/Contracts/Greeter.swift", module: "Contracts", [])
    let contracts = [
      "-I", folder.path, "-L", folder.path, "-lContracts", "-Xlinker", "-rpath", "-Xlinker",
      folder.path,
    ]
    var entries = try SwiftCompiler.objects(of: "CBeeHiveAnchor")
    var macros: [String] = []
    if page.path.contains("Without") {
      try Compiler.compile(
        source("Sources/MorningEntries/entries.c"), as: "entries.o", in: folder.url,
        ["-c", "-fPIC", "-I", Repository.headers])
      entries.append(folder.place("entries.o").path)
    } else {
      let parts = try MacroPlugin.parts.get()
      (macros, entries) = (parts.toCompile, entries + parts.toLink)
    }
    try compile(
      "Sources/Morning/MorningGreeter.swift", module: "Morning",
      macros + contracts + SwiftCompiler.libraries + entries)
    return try SwiftCompiler.program(
      source("Sources/Host/main.swift"), asLibrary: false, contracts)
  }

  @Test(arguments: swift)
  func `A host in Swift prints what its page shows`(page: String) throws {
    let (page, folder) = (try Document(page), try Folder())
    let host = try Self.build(page, in: folder)
    let shown = try #require(page.blocks.flatMap(\.session).last)
    #expect(shown.command == "swift run -q Host")
    let outcome = try Command.run(host)
    #expect(Walkthrough.shape(outcome.output) == Walkthrough.shape(shown.output), "\(outcome)")
    #expect(outcome.status == 0)
    try FileManager.default.removeItem(at: folder.place("libMorning.so"))
    let without = try Command.run(host)
    #expect(without.output.contains("libMorning.so: cannot open shared object file"))
    #expect(without.status == 1)
  }

  @Test(arguments: manifests)
  func `The package manager takes the manifests of a page`(page: String) throws {
    let folder = try Folder()
    let manifests = try Document(page).blocks.filter(\.isManifest)
    #expect(!manifests.isEmpty)
    for block in manifests {
      let manifest = try #require(block.file)
      try folder.write(block.text, as: manifest)
      let package = folder.place(manifest).deletingLastPathComponent()
      try Command.output(
        "swift",
        [
          "package", "--package-path", package.path, "--scratch-path", Folder().path,
          "dump-package",
        ], environment: SwiftCompiler.environment)
    }
  }

  @Test func `README shows what Scripts/demo prints`() throws {
    let block = try Document("README.md").block("", with: "$ Scripts/demo")
    let checks = try Repository.text("Scripts/demo").matches(of: #/(?m)^check "/#).count
    #expect(block.lines.last == "\(checks) passed, 0 failed, 0 skipped")
    let programs = block.session.dropFirst()
    #expect(programs.map { $0.command.prefix { $0 != " " } } == ["Host", "section-dump"])
    for (command, output) in programs {
      let words = command.split(separator: " ").map(String.init)
      let shown = output.split(separator: "\n").filter { !$0.hasSuffix(" skipped") }
      let printed = try Command.output(
        Repository.products.appending(path: words[0]).path, Array(words.dropFirst()),
        in: Repository.products)
      #expect(Walkthrough.firstMissing(of: shown, in: printed) == nil, "\(printed)")
    }
  }

  @Test func `The scripts and tests that README names are there`() throws {
    let text = try Repository.text("README.md")
    let tests = try ["Tests", "Examples/Tests"].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: Repository.place(folder).path)
    }
    for script in text.matches(of: #/`(Scripts/[a-z-]+)/#) {
      let path = Repository.place(String(script.output.1)).path
      #expect(FileManager.default.isExecutableFile(atPath: path), "\(path)")
    }
    for filter in text.matches(of: #/--filter (\w+)/#) {
      #expect(tests.contains { $0.contains(filter.output.1) }, "\(filter.output.1)")
    }
  }
}

extension Document.Block {
  /// Whether it is a manifest of the package manager.
  var isManifest: Bool { file?.hasSuffix("Package.swift") == true }
}
