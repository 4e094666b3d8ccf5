import Foundation
import TestSupport
import Testing

@Suite("What runs of a file before anybody calls it")
struct StartupTests {
  private static let functions = """
    #define LATER(number) __attribute__((constructor(number)))
    void first(void) {} void last(void) {} static void second(void) {}
    LATER(102) static void early(void) { second(); }
    LATER(101) static void earliest(void) { first(); }
    __attribute__((constructor)) static void plain(void) {}
    __attribute__((destructor)) static void closed(void) { last(); }
    """

  private static let chosen = """
    static int answer(void) { return 42; }
    static int (*choose(void))(void) { return answer; }
    int chosen(void) __attribute__((ifunc("choose")));
    static int (*choose_inner(void))(void) { return answer; }
    static int inner(void) __attribute__((ifunc("choose_inner")));
    int call(void);
    int call(void) { return inner(); }
    """

  /// The options link nothing of the C library, and keep functions that do nothing.
  private static let bare = ["-nostdlib", "-O0"]
  private static let library = bare + ["-shared", "-fPIC"]

  /// The steps of `functions`.
  private static let all = [
    "init-array[0] earliest", "init-array[1] early", "init-array[2] plain", "fini-array[0] closed",
  ]

  /// Files, and the expected steps of each, without addresses.
  static let rows: [(what: String, source: String, options: [String], steps: [String])] = [
    ("constructors by priority, the destructor last", functions, library, all),
    (
      "stripped, each without a name", functions, library + ["-s"],
      ["init-array[0] –", "init-array[1] –", "init-array[2] –", "fini-array[0] –"]
    ),
    (
      "relocations that are packed", functions,
      library + ["-fuse-ld=lld", "-Wl,-z,pack-relative-relocs"], all
    ),
    (
      "functions that the linker is told", functions,
      library + ["-Wl,-init,first", "-Wl,-fini,last"], ["init first"] + all + ["fini last"]
    ),
    (
      "resolvers, of relocations and for others", chosen, library,
      ["ifunc choose_inner (chooses inner)", "ifunc-symbol chosen (choose chooses it)"]
    ),
    (
      "no hash table but the old one", chosen, library + ["-Wl,--hash-style=sysv"],
      ["ifunc choose_inner (chooses inner)", "ifunc-symbol chosen (choose chooses it)"]
    ),
    (
      "memory of threads", "__thread int number = 7; __thread long other;", library,
      ["tls – (16 bytes, of which 4 have values)"]
    ),
    (
      "libraries, and one that watches", "int x;",
      library + ["-Wl,--no-as-needed", "-lm", "-lc", "-Wl,--audit,watch.so"],
      ["audit watch.so", "needed libm.so.6", "needed libc.so.6"]
    ),
    (
      "an executable's own array comes first",
      """
      static void before(void) {}
      __attribute__((used, section(".preinit_array"))) static void (*const entry)(void) = before;
      __attribute__((constructor)) static void plain(void) {}
      int main(void) { return 0; }
      """,
      ["-nostartfiles", "-Wl,-e,main", "-Wl,--no-as-needed"],
      ["needed libc.so.6", "preinit-array[0] before", "init-array[0] plain"]
    ),
    (
      "a static executable has sections alone", functions + "\nint main(void) { return 0; }\n",
      bare + ["-static", "-no-pie", "-Wl,-e,main"], all
    ),
    (
      "a function of another image",
      """
      extern void elsewhere(void);
      __attribute__((used, section(".init_array"))) static void (*const entry)(void) = elsewhere;
      """, library,
      ["init-array[0] elsewhere (another image defines it)"]
    ),
    (
      "the compiler's own", "int x;", ["-shared", "-fPIC", "-Wl,--as-needed"],
      [
        "init _init", "init-array[0] frame_dummy", "fini-array[0] __do_global_dtors_aux",
        "fini _fini",
      ]
    ),
    (
      "a label of assembly beside a function",
      """
      __asm__(".text\\nlabel:\\n.type begin, @function\\nbegin: ret\\n"
        ".section .init_array, \\"aw\\"\\n.quad begin");
      """, library, ["init-array[0] begin"]
    ),
    ("nothing", "int x;", library, []),
  ]

  private static func lines(_ outcome: Outcome) -> [String] {
    outcome.lines.dropFirst(2).map { line in
      let words = line.split(separator: " ").map(String.init)
      return words.filter { !$0.hasPrefix("0x") }.joined(separator: " ")
    }
  }

  @Test("is told in the loader's order", arguments: rows)
  func steps(what: String, source: String, options: [String], steps: [String]) throws {
    try Needs.linker(of: options)
    let name = try Fixtures.build(source, as: "\(UUID().uuidString).so", options)
    let outcome = try Tool.run(["startup", name]).expect(0)
    #expect(Self.lines(outcome) == steps)
    if steps.isEmpty { #expect(outcome.output.contains("nothing runs")) }
  }

  @Test("is told where the section headers are gone, or lie")
  func hidden() throws {
    let name = try Fixtures.build(Self.functions, as: "startup-hidden.so", Self.library + ["-s"])
    let whole = try Tool.run(["startup", "--format", "csv", name])
    var bytes = try Fixtures.bytes(name)
    // `e_shoff`, `e_shnum` and `e_shstrndx`.
    for place in Array(40..<48) + Array(60..<64) { bytes[place] = 0 }
    try bytes.write(to: Fixtures.place("startup-stripped.so"))
    let stripped = try Tool.run(["startup", "--format", "csv", "startup-stripped.so"])
    #expect(
      stripped.output.replacing("startup-stripped.so", with: name) == whole.output, "\(stripped)")
  }

  @Test("is told of a program that copies a library's data up to its dynamic section")
  func copied() throws {
    let id = UUID().uuidString
    let library = try Fixtures.build("const int a = 1, b = 2;", as: "\(id).so")
    // A copy of read-only data is in `.data.rel.ro`, and `.dynamic` follows it.
    let source = """
      extern const int a, b;
      int main(void) { return a + b; }
      """
    let name = try Fixtures.build(
      source, as: id,
      ["-no-pie", "-fno-pie", "-fuse-ld=bfd", Fixtures.place(library).path, "-Wl,-rpath,$ORIGIN"])
    try Tool.run(["startup", name]).expect(0)
  }

  @Test("is not told of what a directory holds that is not linked: that is counted")
  func directory() throws {
    let folder = "startup-\(UUID().uuidString)"
    try Fixtures.folder(folder)
    _ = try Fixtures.build("int x;", as: "\(folder)/a.o", ["-c"])
    _ = try Fixtures.build(Self.functions, as: "\(folder)/b.so", Self.library)
    try Tool.run(["startup", "-r", folder]).expect(0, output: " skipped (not linked)")
  }

  /// Builds a library for macOS.
  private func dylib(_ source: String, _ options: [String]) throws -> String {
    let id = UUID().uuidString
    let object = try Fixtures.build(
      source, as: "\(id).o", with: "clang",
      ["-c", "-O0", "-fno-exceptions", "--target=arm64-apple-macos13", "-x", "c"])
    try Fixtures.tool(
      "ld64.lld-19",
      [
        "-dylib", "-arch", "arm64", "-platform_version", "macos", "13.0", "13.0", "-install_name",
        "x", "-undefined", "dynamic_lookup", "-headerpad", "0x400", "-o", "\(id).dylib", object,
      ] + options)
    return "\(id).dylib"
  }

  @Test(
    "lists the arrays of Mach-O, of pointers and of offsets", .needs("clang", "ld64.lld-19"),
    arguments: ["-fixup_chains", "-no_fixup_chains", "-init_offsets"])
  func machO(option: String) throws {
    let name = try dylib(Self.functions, [option])
    let outcome = try Tool.run(["startup", name]).expect(0)
    let constructors = ["_earliest", "_early", "_plain"].enumerated().map {
      "init-array[\($0.offset)] \($0.element)"
    }
    // The last one registers the destructor.
    let lines = Self.lines(outcome).filter { $0.hasPrefix("init-array") }
    #expect(lines.dropLast() == constructors[...], "\(outcome)")
  }

  @Test(
    "lists the libraries of Mach-O, the routine of the linker and classes with +load",
    .needs("clang", "ld64.lld-19"))
  func commands() throws {
    let source = """
      static long shape[5];
      __attribute__((used, section("__DATA,__objc_nlclslist"))) static void *loads[] = { shape };
      __attribute__((constructor)) static void plain(void) {}
      """
    let name = try dylib(source, ["-fixup_chains"])
    var bytes = try Fixtures.bytes(name)
    let lines = Self.lines(try Tool.run(["startup", name]).expect(0))
    #expect(lines == ["objc-load[0] _shape", "init-array[0] _plain"])
    // One more command each: `LC_LOAD_DYLIB`, and `LC_ROUTINES_64` with the constructor's address.
    func number(_ value: UInt64, _ size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let plain =
      try #require(
        Tool.object(Tool.run(["startup", "--format", "ndjson", name]).output)["startup"]
          as? [[String: Any]]
      ).last?["address"] as? String
    let address = try #require(plain.flatMap { UInt64($0.dropFirst(2), radix: 16) })
    let path = Array("/usr/lib/libfirst.dylib".utf8)
    let library =
      number(0xc, 4) + number(48, 4) + number(24, 4) + number(0, 12) + path
      + [UInt8](repeating: 0, count: 24 - path.count)
    let routines = number(0x1a, 4) + number(72, 4) + number(address, 8) + number(0, 56)
    let size = bytes[20..<24].reversed().reduce(0) { $0 << 8 | Int($1) }
    bytes.replaceSubrange(32 + size..<32 + size + 120, with: library + routines)
    bytes[16] += 2
    bytes.replaceSubrange(20..<24, with: number(UInt64(size + 120), 4))
    try bytes.write(to: Fixtures.place(name))
    let all = Self.lines(try Tool.run(["startup", name]).expect(0))
    #expect(all == ["needed /usr/lib/libfirst.dylib", lines[0], "init _plain", lines[1]], "\(all)")
    // Commands that are too short for their contents hide nothing.
    bytes[32 + size + 8] = 0xff
    try bytes.write(to: Fixtures.place(name))
    #expect(Self.lines(try Tool.run(["startup", name]).expect(0)).count == 4)
  }

  @Test("is not told of objects and of archives of them", .needs("clang"))
  func object() throws {
    let object = try Fixtures.build("int x;", as: "startup.o", ["-c"])
    try Fixtures.tool("ar", ["rc", "startup.a", object])
    let other = try Fixtures.build(
      "int x;", as: "startup-macho.o", with: "clang", ["-c", "--target=arm64-apple-macos13"])
    for (name, reason) in [
      (object, "It is not linked: what it is linked into decides what runs"),
      ("startup.a", "startup.a: It is not linked"), (other, "startup-macho.o: It is not linked"),
    ] {
      try Tool.run(["startup", name]).expect(2, errors: reason)
    }
  }

  @Test("has the same in JSON, as numbers and texts")
  func json() throws {
    let name = try Fixtures.build(Self.functions, as: "startup-json.so", Self.library)
    let object = try Tool.object(Tool.run(["startup", "--format", "ndjson", name]).output)
    let steps = try #require(object["startup"] as? [[String: Any]])
    #expect(
      steps.map { "\($0["when"] ?? "")[\($0["index"] ?? "")] \($0["name"] ?? "")" } == Self.all)
    #expect(steps.allSatisfy { ($0["address"] as? String)?.hasPrefix("0x") == true })
  }

  @Test("Libraries and functions that share the bytes of a long name are told, most without it")
  func sharedNames() throws {
    try Fixtures.raw(
      "header: \(Fixtures.header(type: 3, segments: 2))\n" + Fixtures.source("startup-names.s"),
      as: "startup-names.so")
    let outcome = try Tool.run(["startup", "startup-names.so", "--format", "json"])
    let steps = try #require(Tool.files(of: outcome).first?["startup"] as? [[String: Any]])
    #expect(steps.count { $0["when"] as? String == "needed" } == 4000)
    #expect(steps.count { $0["when"] as? String == "init-array" } == 1000)
    #expect(try outcome.output.utf8.count / Fixtures.bytes("startup-names.so").count < 16)
  }
}
