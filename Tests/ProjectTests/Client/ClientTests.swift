import Foundation
import TestSupport
import Testing

@Suite("A package that takes this one by version", .serialized, .full, .needs("git"))
struct ClientTests {
  /// The entries that the client's C and Swift targets declare.
  private static let declared = [
    "module CalendarModule", "module clock", "service Almanac", "service Greeter",
  ]

  @Test("builds in release, and section-dump as a product of its dependency")
  func builds() throws {
    let products = try Client.built.get().products()
    for program in ["Client", "section-dump"] {
      let path = products.appendingPathComponent(program).path
      #expect(FileManager.default.isExecutableFile(atPath: path), "\(program)")
    }
  }

  /// README promises that nobody pays for swift-syntax without the trait.
  @Test("does not fetch swift-syntax without the trait")
  func fetches() throws {
    let client = try Client.built.get()
    let checkouts = try FileManager.default.contentsOfDirectory(
      atPath: client.scratch.appending(path: "checkouts").path)
    #expect(checkouts.contains("swift-argument-parser"))
    #expect(!checkouts.contains("swift-syntax"))
  }

  @Test("has every entry in its release build")
  func entries() throws {
    let products = try Client.built.get().products()
    let output = try Command.output(
      products.appendingPathComponent("section-dump").path,
      ["records", "--format", "json", products.appendingPathComponent("Client").path])
    #expect(try Self.entries(in: output) == Self.declared)
  }

  /// Returns the entries that `section-dump records --format json` prints, sorted: `module clock`.
  private static func entries(in output: String) throws -> [String] {
    let document = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
    let files = try #require(document?["files"] as? [[String: Any]])
    let records = files.flatMap { $0["records"] as? [[String: Any]] ?? [] }
    return records.map { "\($0["kind"] ?? "") \($0["name"] ?? "")" }.sorted()
  }

  @Test("swift package section-dump shows the entries of a release build")
  func sectionDump() throws {
    for options in [["-c", "release"], ["--configuration=release", "--product=Client"]] {
      let output = try Client.built.get().swift(
        ["package", "section-dump"] + options + ["records", "--format", "json"]
      ).check()
      let start = try #require(output.firstIndex(of: "{"), "\(output)")
      #expect(try Self.entries(in: String(output[start...])) == Self.declared)
    }
  }

  @Test("swift package section-dump gives commands that read no product what the user wrote")
  func otherCommands() throws {
    let client = try Client.built.get()
    let file = try client.products().appendingPathComponent("Client").path
    let own = "\(ProcessInfo.processInfo.processIdentifier)"
    for arguments in [
      ["diff", file, file], ["doctor", "--host", file, file], ["live", "--pid", own], ["--version"],
    ] {
      let outcome = try client.swift(["package", "section-dump"] + arguments)
      let alone = try Command.run(Repository.sectionDump, arguments)
      #expect(outcome.status == (alone.status == 0 ? 0 : 1), "\(outcome)")
      // A process changes between two looks.
      if arguments[0] == "live" { continue }
      #expect(outcome.output.contains(alone.output), "\(outcome)\(alone)")
    }
  }

  @Test(
    "swift package verify-registrations fails where section-dump verify does",
    arguments: [([], 0), (["--strict"], 1)] as [([String], Int32)])
  func verifyRegistrations(_ options: [String], _ status: Int32) throws {
    let outcome = try Client.built.get().swift(
      ["package", "verify-registrations", "-c", "release"] + options)
    #expect(outcome.status == status, "\(outcome)")
    // Two entries name Swift types that do not exist.
    #expect(outcome.output.contains("1 file, 4 entries: 0 errors, 2 warnings"), "\(outcome)")
  }

  @Test(
    "swift package beehive-new-plugin makes a package whose test passes, and refuses other names")
  func newPlugin() throws {
    let client = try Client.built.get()
    let make = { name in
      try client.swift([
        "package", "--allow-writing-to-package-directory", "beehive-new-plugin", name,
      ])
    }
    try make("Greetings").check()
    let test = try client.swift(["test"], in: client.package.appending(path: "Greetings"))
    #expect(test.status == 0 && test.output.contains("2 tests in 1 suite passed"), "\(test)")
    for name in ["../Greetings", "my-plugin", ""] {
      #expect(try make(name).status == 1, "\(name)")
    }
    try makeLink(at: client.package.appending(path: "Dangling").path, to: "nowhere")
    for name in ["Greetings", "Dangling"] {
      let outcome = try make(name)
      #expect(outcome.status == 1 && outcome.errors.contains("is there already"), "\(outcome)")
    }
    for name in ["main", "BeeHive", "LibC", "ArgumentParser"] {
      let outcome = try make(name)
      #expect(
        outcome.status == 1 && outcome.errors.contains("\(name) means something"), "\(outcome)")
    }
    // Keywords of C, of C++ and of both, a type of a header, a macro, and a header.
    for name in ["restrict", "class", "int", "beehive_context", "NULL", "string"] {
      let outcome = try make(name)
      #expect(
        outcome.status == 1 && outcome.errors.contains("\(name) means something in C"),
        "\(outcome)")
    }
  }

  /// Prints the seconds for Docs/macros.md.
  @Test(
    "the macros, by the library of swift package beehive-macros and by the trait that builds it")
  func macros() throws {
    for trait in ["Declarations", "Annotations"] {
      var client = try Client("client-\(trait)", macros: trait)
      // swift-syntax takes too long to be built each time.
      let cold = trait == "Declarations" ? try client.forget() : !client.hasBuilt
      if trait == "Declarations" {
        let seconds = try Self.seconds { try client.swift(["package", "beehive-macros"]).check() }
        print("\(trait): \(seconds) s for swift package beehive-macros")
        client.useMacros(
          of: client.scratch.path
            + "/plugins/MacrosCommand/outputs/libBeeHiveAnnotationsPlugin.so")
      }
      let first = try Self.seconds { try client.swift(["build"]).check() }
      let source = client.package.appending(path: "Sources/Annotated/Basket.swift")
      try (String(contentsOf: source, encoding: .utf8) + "\nstruct Lid {}\n")
        .write(to: source, atomically: true, encoding: .utf8)
      let next = try Self.seconds { try client.swift(["build"]).check() }
      print("\(trait): \(first) s for a \(cold ? "cold" : "warm") build, \(next) s after a change")
      let output = try Command.output(
        Repository.sectionDump,
        [
          "records", "--format", "json",
          client.products("debug").appending(path: "libAnnotated.so").path,
        ])
      #expect(try Self.entries(in: output) == ["module Annotated.Basket"])
      let checkouts = try FileManager.default.contentsOfDirectory(
        atPath: client.scratch.appending(path: "checkouts").path)
      #expect(checkouts.contains("swift-syntax") == (trait == "Annotations"))
    }
  }

  private static func seconds(_ body: () throws -> some Any) throws -> Int64 {
    let start = ContinuousClock.now
    _ = try body()
    return start.duration(to: .now).components.seconds
  }

  @Test("runs with the same entries in its Hive, and its service answers")
  func runs() throws {
    let client = try Client.built.get().products().appendingPathComponent("Client").path
    let outcome = try Command.run(client).expect(0)
    #expect(outcome.lines.sorted() == (Self.declared + ["hello from a release build"]).sorted())
  }
}
