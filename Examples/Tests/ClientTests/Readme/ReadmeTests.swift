import Foundation
import Testing

/// Does what README.md says: its sources with its own command lines, and what they print.
@Suite struct ReadmeTests {
  /// The blocks of README that these tests compile or run as they are: a language, and a text that no other has.
  static let shown = [
    ("c", "// greeter.h"), ("c", "// greeting.c"), ("sh", "gcc -shared"),
    ("swift", "// Package.swift"), ("swift", "// Sources/Host/main.swift"), ("", "$ swift run"),
    ("sh", "--product BeeHive"), ("c", "// host.c"), ("sh", "gcc host.c"), ("", "$ ./host"),
    ("", "$ section-dump"), ("sh", "Scripts/demo"),
  ]

  private static func readme() throws -> Document { try Document("README.md") }

  /// The folder that README's reader works in: the library in C, the host with its package, and a
  /// link to this checkout under the name that README gives it.
  private static func newcomer() throws -> Folder {
    let readme = try readme()
    let folder = try Folder()
    try folder.write(try readme.block("c", with: "// greeting.c").text, as: "greeting.c")
    try folder.write(try readme.block("c", with: "// greeter.h").text, as: "greeter.h")
    try folder.write(
      try readme.block("swift", with: "// Package.swift").text, as: "Package.swift")
    try folder.write(
      try readme.block("swift", with: "// Sources/Host/main.swift").text,
      as: "Sources/Host/main.swift")
    try FileManager.default.createSymbolicLink(
      at: folder.place("swift-beehive"), withDestinationURL: Repository.root)
    return folder
  }

  /// Builds README's library by README's command line, with another compiler and every warning.
  private static func build(in folder: Folder, with compiler: String) throws {
    let command = try readme().block("sh", with: "gcc -shared").text
    let strict = "\(compiler) -Wall -Wextra -Wpedantic -Werror"
    try Command.output("sh", ["-ec", command.replacing("gcc", with: strict)], in: folder.url)
  }

  /// A folder with the library.
  private static let built = Result {
    let folder = try newcomer()
    try build(in: folder, with: Compiler.program)
    return folder
  }

  @Test(arguments: ["gcc", "clang"])
  func theLibraryIsBuiltWith(compiler: String) throws {
    try Needs.programs(compiler)
    let folder = try Self.newcomer()
    try Self.build(in: folder, with: compiler)
    #expect(FileManager.default.fileExists(atPath: folder.place("libgreeting.so").path))
  }

  @Test func theHostPrintsWhatREADMEShows() throws {
    let folder = try Self.built.get()
    let source = try String(
      contentsOf: folder.place("Sources/Host/main.swift"), encoding: .utf8)
    let host = try SwiftCompiler.program(source, asLibrary: false)
    let outcome = try Command.run(host, in: folder.url)
    #expect(outcome.output == (try Self.readme().session("swift run").output), "\(outcome)")
    #expect(outcome.status == 0)
  }

  /// README's host in C, compiled and linked by README's command line, with every warning.
  @Test func theHostInCPrintsWhatREADMEShows() throws {
    let folder = try Self.newcomer()
    try Self.build(in: folder, with: Compiler.program)
    let readme = try Self.readme()
    try folder.write(try readme.block("c", with: "// host.c").text, as: "host.c")
    // This checkout, with what was built beside the tests as its products.
    let checkout = folder.place("swift-beehive")
    try FileManager.default.removeItem(at: checkout)
    for (name, place) in [
      ("CSupport", Repository.place("CSupport")), (".build/debug", Repository.products),
    ] {
      let link = checkout.appendingPathComponent(name)
      try FileManager.default.createDirectory(
        at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
    }
    let command = try readme.block("sh", with: "gcc host.c").text
    try Command.output(
      "sh",
      [
        "-ec",
        command.replacing("gcc", with: "\(Compiler.program) -Wall -Wextra -Wpedantic -Werror"),
      ], in: folder.url)
    let session = try readme.session("./host")
    let outcome = try Command.run("sh", ["-c", String(session.command)], in: folder.url)
    #expect(outcome.output == session.output, "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test func sectionDumpPrintsWhatREADMEShows() throws {
    let session = try Self.readme().session("section-dump")
    let outcome = try Command.run(
      Repository.sectionDump, session.command.split(separator: " ").dropFirst().map(String.init),
      in: try Self.built.get().url)
    #expect(Self.shape(outcome.output) == Self.shape(session.output))
    #expect(outcome.status == 0)
  }

  /// Addresses and the build-id depend on the compiler; what is declared does not.
  private static func shape(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let line = line.replacing(#/build-id .*/#, with: "").replacing(#/0x[0-9a-f]*/#, with: "0x")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// The package manager takes README's manifest, and this package has the product that it names.
  @Test func theManifestIsAccepted() throws {
    let folder = try Self.newcomer()
    let host = try Manifest.of(folder.url)
    #expect(host.name == "Host")
    #expect(host.targets.map(\.name) == ["Host"])
    let wanted = try #require(host.targets.first?.dependencies.first?.product)
    #expect(wanted.prefix(2).map(\.text) == ["BeeHive", "swift-beehive"])
    let package = try Manifest.of(folder.place("swift-beehive"))
    let command = try Self.readme().block("sh", with: "--product BeeHive").lines
    #expect(command == ["swift build --package-path swift-beehive --product BeeHive"])
    #expect(package.products.map(\.name).contains("BeeHive"))
    #expect(package.traits.map(\.name).contains("Annotations"))
  }

  /// A library that is not there is an error with the loader's words, and no crash.
  @Test func theHostSaysWhatTheLoaderSays() throws {
    let folder = try Self.newcomer()
    let source = try String(
      contentsOf: folder.place("Sources/Host/main.swift"), encoding: .utf8)
    let host = try SwiftCompiler.program(source, asLibrary: false)
    let outcome = try Command.run(host, in: folder.url)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("libgreeting.so: cannot open shared object file"), "\(outcome)")
  }

  @Test func theScriptsAreThere() throws {
    for line in try Self.readme().block("sh", with: "Scripts/demo").lines {
      let script = try #require(line.split(separator: " ").first)
      let path = Repository.place(String(script)).path
      #expect(FileManager.default.isExecutableFile(atPath: path), "\(path)")
    }
  }

  /// The same in the newcomer's own folder, where the package manager builds everything.
  @Test(.full) func thePackageRuns() throws {
    let folder = try Self.newcomer()
    try Self.build(in: folder, with: Compiler.program)
    let readme = try Self.readme()
    let build = try readme.block("sh", with: "--product BeeHive").text
    try Command.output(
      "sh", ["-ec", build], in: folder.url, environment: SwiftCompiler.environment, limit: 3600)
    let session = try readme.session("swift run")
    let outcome = try Command.run(
      "sh", ["-c", String(session.command)], in: folder.url,
      environment: SwiftCompiler.environment, limit: 3600)
    #expect(outcome.output == session.output, "\(outcome)")
    #expect(outcome.status == 0)
  }
}

/// What the package manager reads in a `Package.swift`.
private struct Manifest: Decodable {
  struct Named: Decodable { var name: String }
  struct Target: Decodable {
    /// The product and the package, then what is not a word.
    struct Dependency: Decodable {
      struct Word: Decodable {
        var text: String?
        init(from decoder: any Decoder) throws {
          text = try? decoder.singleValueContainer().decode(String.self)
        }
      }
      var product: [Word]?
    }
    var name: String
    var dependencies: [Dependency]
  }

  var name: String
  var products: [Named]
  var targets: [Target]
  var traits: [Named]

  static func of(_ package: URL) throws -> Manifest {
    let scratch = try Folder()
    let text = try Command.output(
      "swift",
      [
        "package", "--package-path", package.path, "--scratch-path", scratch.path,
        "dump-package",
      ], environment: SwiftCompiler.environment)
    return try JSONDecoder().decode(Manifest.self, from: Data(text.utf8))
  }
}
