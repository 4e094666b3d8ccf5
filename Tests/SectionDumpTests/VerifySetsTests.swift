import Foundation
import TestSupport
import Testing

/// Findings that no single file shows, and things that a file hides.
@Suite("What section-dump verify finds in files that belong together")
struct VerifySetsTests {
  /// Codes tested here, in `VerifyContractsTests` or in `MissingTypesTests`, but not in `VerifyFindingsTests`.
  static let codes: Set = [
    "copy", "duplicate-type", "duplicate-protocol", "never-linked", "look-alike-section",
    "contract-drift", "contract-not-visible", "missing-protocol", "does-not-conform",
    "no-initializer",
    "static-swift-runtime", "without-entries",
  ]

  private func entries(_ text: String, in section: String, as name: String) throws -> String {
    try Fixtures.build(
      """
      __attribute__((used, retain, aligned(8), section("\(section)")))
      static const char *const entry = "\(text)";
      """, as: name)
  }

  @Test("Two versions of one plugin are no duplicates of each other")
  func versions() throws {
    let files = try ["1.0.0", "2.0.0"].map { version in
      try Fixtures.build(
        "\(Compiler.module("versioned"))\nBEEHIVE_PLUGIN(\"com.example.versioned\", \"\(version)\");",
        as: "versioned-\(version).so")
    }
    #expect(try Tool.found(files) == [])
    let other = try Fixtures.build(Compiler.module("versioned"), as: "versioned-other.so")
    #expect(
      try Tool.found(files + [other], status: 1) == [
        "error duplicate-module versioned-other.so BeehiveRecords[0]"
      ])
  }

  @Test("A Swift type in two libraries, which an entry names or none does", .needs("swiftc"))
  func types() throws {
    let plain = "public struct Plain {}\npublic enum Other {}\nstruct Box { struct Plain {} }\n"
    let files = [
      try Fixtures.swift(plain, as: "twice-1.so", module: "A"),
      try Fixtures.swift(plain + "public struct Third {}", as: "twice-2.so", module: "A"),
      try Fixtures.swift("public struct Plain {}", as: "twice-3.so", module: "B"),
    ]
    #expect(try Tool.found(files) == ["warning duplicate-type twice-2.so"])
    let text = try Tool.run(["verify"] + files).output
    #expect(text.contains("4 types such as A.Box"), "\(text)")

    let module = try entries("A.Plain", in: "BeehiveMods", as: "twice-module.so")
    let unfit = "warning does-not-conform twice-module.so BeehiveMods[0]"
    #expect(
      try Tool.found(files + [module], status: 1) == [
        unfit, "error duplicate-type twice-module.so BeehiveMods[0]",
        "warning duplicate-type twice-2.so",
      ])
    #expect(try Tool.found([files[0], files[2], module]) == [unfit])
    #expect(try Tool.found([files[0], files[0]]) == [])
    try Fixtures.bytes(files[0]).write(to: Fixtures.place("twice-copy.so"))
    #expect(try Tool.found([files[0], "twice-copy.so"]) == ["remark copy twice-copy.so"])
  }

  @Test("The contracts in two libraries, so that lookups across them fail", .needs("swiftc"))
  func protocols() throws {
    let contracts = "public protocol Greeter {}\npublic protocol Clock {}\n"
    let files = [
      try Fixtures.swift(
        contracts + "struct English: Greeter {}", as: "contracts-1.so", module: "C"),
      try Fixtures.swift(contracts, as: "contracts-2.so", module: "C"),
    ]
    #expect(try Tool.found(files) == [])
    for written in ["C.Greeter", "Greeter"] {
      let service = try entries(
        "{\\\"\(written)\\\":\\\"C.English\\\"}", in: "BeehiveServices",
        as: "contracts-\(written).so")
      let unfit = "warning no-initializer \(service) BeehiveServices[0]"
      #expect(
        try Tool.found(files + [service], status: 1)
          == [unfit, "error duplicate-protocol \(service) BeehiveServices[0]"])
      #expect(try Tool.found([files[0], service]) == [unfit])
    }
  }

  @Test("Members of an archive that were never linked into the executable beside it")
  func neverLinked() throws {
    let entry = "#include <BeeHive.h>\nstatic const int one = 1;\n"
    let objects = try ["first", "second"].map { name in
      try Fixtures.build(
        entry + "BEEHIVE_SERVICE(Greeter, \(name), &one, BEEHIVE_NAME(\"\(name)\"));\nint \(name);",
        as: "never-\(name).o", ["-c", "-fPIC"])
    }
    try Fixtures.tool("ar", ["rcs", "libnever.a"] + objects)
    let main = "int main(void) { return 0; }"
    let none = try Fixtures.build(main, as: "never-none", ["libnever.a"])
    let one = try Fixtures.build(
      "extern int first; int main(void) { return first; }", as: "never-one", ["libnever.a"])
    let all = try Fixtures.build(
      main, as: "never-all", ["-Wl,--whole-archive", "libnever.a", "-Wl,--no-whole-archive"])
    let members = ["libnever.a", "libnever.a"].map { "error never-linked \($0)" }
    #expect(try Tool.found(["libnever.a", none], status: 1) == members)
    #expect(try Tool.found([one, "libnever.a"], status: 1) == [members[0]])
    #expect(try Tool.found(["libnever.a", all]) == [])
    #expect(try Tool.found(["libnever.a", none, all]) == [])
    #expect(try Tool.found(["libnever.a"]) == [])
    // If only libraries are given, an executable elsewhere may link the members.
    let library = try Fixtures.build("int none;", as: "never-none.so")
    #expect(try Tool.found(["libnever.a", library]) == members.map { "warning" + $0.dropFirst(5) })
    try Tool.run(["verify", "libnever.a", one])
      .expect(1, output: "libnever.a(never-second.o): error: ", "--whole-archive")
  }

  @Test("What is required is in a file that was linked, where one is")
  func required() throws {
    let object = try Fixtures.build(Fixtures.annotated, as: "required.o", ["-c", "-fPIC"])
    let empty = try Fixtures.build("int none;", as: "required-none.so")
    let full = try Fixtures.build("", as: "required.so", ["-shared", object])
    let required = ["--require", "module:Shop.ShopModule"]
    func run(_ files: String...) throws -> Outcome { try Tool.run(["verify"] + required + files) }
    #expect(try run(object).status == 0)
    #expect(try run(object, full).status == 0)
    try run(object, empty).expect(1, output: "required.o", "in no linked file")
  }

  @Test("Entries that a linker put where the note does not look", .needs("ld.gold"))
  func leftOut() throws {
    let objects = try ["First", "Second"].map {
      try Fixtures.build(
        "#include <BeeHive.h>\nBeeHiveMod(\($0));", as: "\($0).o", ["-c", "-fPIC"])
    }
    try Fixtures.tool("ld.gold", ["-r", "-o", "together.o"] + objects)
    let library = try Fixtures.build(
      "", as: "together.so", ["-shared", "-fuse-ld=gold", "together.o"])
    try Tool.run(["verify", library]).expect(2, output: "which the note leaves out")
    let good = try Fixtures.build(
      "", as: "together-bfd.so", ["-shared", "-fuse-ld=bfd", "together.o"])
    #expect(try Tool.run(["verify", good]).status == 0)
  }

  @Test("A thin archive whose member has a name of 15 bytes")
  func thinNames() throws {
    for name in ["fourteen-byte.o", "fifteen-bytes.o", "sixteen--bytes.o"] {
      try Fixtures.folder("thin-\(name)")
      let object = try Fixtures.build(Fixtures.annotated, as: "thin-\(name)/\(name)", ["-c"])
      try Fixtures.tool("ar", ["rcsDT", "thin-\(name).a", object])
      try Tool.run(["verify", "--require", "module:Shop.ShopModule", "thin-\(name).a"]).expect(0)
    }
  }

  @Test(
    "An object of intermediate code alone is no object without entries",
    arguments: [
      ("gcc", ["-flto", "-fno-fat-lto-objects"], "-ffat-lto-objects"),
      ("clang", ["-flto"], "without -flto"),
    ])
  func intermediate(compiler: String, options: [String], remedy: String) throws {
    try Needs.programs(compiler)
    let slim = try Fixtures.build(
      Fixtures.annotated, as: "slim-\(compiler).o", with: compiler, ["-c"] + options)
    let strings = compiler == "gcc" ? [["strings", "--section", "BeehiveMods"]] : []
    for command in [["records"], ["verify"]] + strings {
      let outcome = try Tool.run(command + [slim]).expect(2)
      #expect((outcome.output + outcome.errors).contains(remedy), "\(outcome)")
      #expect(!outcome.output.contains("no entries"))
    }
    guard compiler == "gcc" else { return }
    #expect(try Tool.run(["sections", slim]).status == 0)
    let fat = try Fixtures.build(
      Fixtures.annotated, as: "fat.o", with: "gcc", ["-c", "-flto", "-ffat-lto-objects"])
    try Fixtures.tool("ar", ["rcs", "libslim.a", slim, fat])
    try Tool.run(["libslim.a"]).expect(
      2, errors: "libslim.a(slim-gcc.o): ", output: "Shop.ShopModule")
  }

  @Test(
    "A section whose name is nearly the right one",
    arguments: [
      ("BeeHiveMods", "BeehiveMods"), ("beehiveservices", "BeehiveServices"),
      ("BeehiveRecord", "BeehiveRecords"), (".BeehiveMods", "BeehiveMods"),
      ("BeehiveModes", "BeehiveMods"), ("BeehiveMxds", "BeehiveMods"), ("BeehivMds", nil),
      ("BeehiveModules", "BeehiveMods"), ("BeeHive_Services", "BeehiveServices"),
      ("BeehiveMods.x", "BeehiveMods"), ("BeehiveOther", nil), ("list", nil),
    ])
  func lookAlikes(name: String, meant: String?) throws {
    let file = try Fixtures.build(
      ["BeehiveMods", name].enumerated().map { index, section in
        """
        __attribute__((used, retain, aligned(8), section("\(section)")))
        static const char *const entry\(index) = "Log";
        """
      }.joined(separator: "\n"), as: "look-alike-\(name).so")
    let outcome = try Tool.run(["verify", file]).expect(meant == nil ? 0 : 1)
    let line = outcome.lines.first { $0.contains("look-alike-section") }
    #expect((line != nil) == (meant != nil), "\(outcome)")
    if let line, let meant {
      #expect(line.hasPrefix("\(file) \(name): error: "))
      #expect(line.contains("entries are in \(meant) "))
    }
  }
}
