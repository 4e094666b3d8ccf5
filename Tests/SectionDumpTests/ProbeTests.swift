import Foundation
import TestSupport
import Testing

@Suite("The probe loads a plugin into a host that goes no further")
struct ProbeTests {
  /// Makes a host with a library. Both print when they run, and the host has a function that plugins call.
  private static func patient(_ plugin: String, name: String = "plugin.so") throws -> Folder {
    let folder = try Folder()
    try Compiler.library(
      """
      #include <stdio.h>
      __attribute__((constructor)) static void up(void) { puts("library runs"); }
      int answer(void) { return 42; }
      """, as: "libhost.so", in: folder.url)
    try Compiler.compile(
      """
      #include <stdio.h>
      extern int answer(void);
      int of_host(void) { return answer(); }
      __attribute__((constructor)) static void up(void) { puts("host runs"); }
      int main(void) { puts("main runs"); return 3; }
      """, as: "host", in: folder.url,
      ["-rdynamic", "-L.", "-lhost", "-Wl,-rpath,$ORIGIN"])
    try Compiler.library(
      "#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n" + plugin,
      as: name, in: folder.url, ["-w"])
    return folder
  }

  private static func constructor(_ body: String) -> String {
    "int of_host(void);\n__attribute__((constructor)) static void begin(void) { \(body) }\n"
  }

  private func probe(
    _ folder: Folder, _ arguments: [String] = [], file: String = "plugin.so", host: String = "host"
  ) throws -> Outcome {
    try Command.run(
      Repository.sectionDump, ["probe", file, "--host", host] + arguments, in: folder.url)
  }

  private func document(_ folder: Folder, _ arguments: [String] = []) throws -> [String: Any] {
    try Tool.object(probe(folder, ["--format", "json"] + arguments).output)
  }

  @Test("its constructors run, with the symbols of the host, and nothing of the host itself")
  func loads() throws {
    let folder = try Self.patient(
      Self.constructor(#"printf("answer %d\n", of_host()); open("notes.txt", O_RDONLY);"#))
    try folder.write("", as: "notes.txt")
    let outcome = try probe(folder).expect(0)
    #expect(outcome.lines.first?.hasPrefix("host loads plugin.so in ") == true, "\(outcome)")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    let rest = ["  opens  notes.txt", "  | library runs", "  | answer 42"]
    #expect(Array(lines[1...]) == rest, "\(outcome)")
  }

  @Test("a link is opened by its own path, so that $ORIGIN is its folder")
  func links() throws {
    let folder = try Self.patient("int nothing;")
    try folder.makeFolder("links")
    try makeLink(at: folder.place("links/other.so").path, to: "../plugin.so")
    let outcome = try probe(folder, file: "links/other.so").expect(0)
    #expect(outcome.lines.first?.hasPrefix("host loads other.so in ") == true, "\(outcome)")
    #expect(outcome.lines.dropFirst() == ["  | library runs"], "\(outcome)")
  }

  @Test("libraries that come along are named")
  func libraries() throws {
    let folder = try Self.patient("int nothing;")
    try Compiler.library("int more(void) { return 1; }", as: "libmore.so", in: folder.url)
    try Compiler.library(
      "extern int more(void); int f(void) { return more(); }", as: "plugin.so", in: folder.url,
      ["-L.", "-lmore", "-Wl,-rpath,$ORIGIN"])
    let found = try document(folder)
    #expect(found["outcome"] as? String == "loaded")
    #expect((found["libraries"] as? [String])?.map(\.lastPart) == ["libmore.so"])
    #expect(found["opened"] as? [String] == [])
  }

  @Test("what dlopen refuses is said in its words")
  func refused() throws {
    let folder = try Self.patient("int nowhere(void); int f(void) { return nowhere(); }")
    let outcome = try probe(folder).expect(1)
    #expect(outcome.output.hasPrefix("host does not load plugin.so: /"), "\(outcome)")
    #expect(outcome.output.contains("undefined symbol: nowhere"), "\(outcome)")
  }

  /// The body of a constructor, and the probe's report of it.
  static let outcomes: [(body: String, outcome: String, number: Int?, place: String?)] = [
    ("*(volatile int *)0 = 1;", "killed", 11, "begin of plugin.so"),
    ("puts(\"about to\"); abort();", "killed", 6, "called by begin of plugin.so"),
    ("_exit(7);", "exited", 7, nil), ("exit(8);", "exited", 8, nil),
    ("((void (*)(void))0)();", "killed", 11, "address 0x0, called by begin of plugin.so"),
    ("execl(\"/bin/true\", \"true\", (char *)0);", "replaced", nil, nil),
    ("for (;;) {}", "late", nil, "begin of plugin.so"),
    ("pause();", "late", nil, "called by begin of plugin.so"),
    ("raise(15);", "killed", 15, nil), ("if (!vfork()) for (;;) pause();", "late", nil, nil),
  ]

  @Test(
    "what ends the host, or does not return to it, comes with its function", arguments: outcomes)
  func ends(body: String, outcome: String, number: Int?, place: String?) throws {
    let folder = try Self.patient("#include <signal.h>\n" + Self.constructor(body))
    let found = try document(folder, outcome == "late" ? ["--limit", "1"] : [])
    #expect(found["outcome"] as? String == outcome)
    #expect(found["number"] as? Int == number)
    if let place { #expect((found["place"] as? String)?.hasSuffix(place) == true, "\(found)") }
  }

  @Test("a signal that the plugin handles ends nothing")
  func handled() throws {
    let folder = try Self.patient(
      "#include <signal.h>\nstatic void quiet(int n) {}\n"
        + Self.constructor("signal(SIGUSR1, quiet); raise(SIGUSR1);"))
    #expect(try document(folder)["outcome"] as? String == "loaded")
  }

  @Test("what it has started ends with it")
  func children() throws {
    let folder = try Self.patient(
      Self.constructor(
        #"if (!fork()) { setsid(); sleep(3); fclose(fopen("late.txt", "w")); _exit(0); }"#))
    #expect(try document(folder)["outcome"] as? String == "loaded")
    Thread.sleep(forTimeInterval: 4)
    #expect(!FileManager.default.fileExists(atPath: folder.place("late.txt").path))
  }

  @Test("a host that cannot start, or has no dlopen, is no fault of the plugin")
  func hosts() throws {
    let folder = try Self.patient("int nothing;")
    try Compiler.compile("int main(void) { return 0; }", as: "static", in: folder.url, ["-static"])
    #expect(try probe(folder, host: "static").expect(1).output.contains("has dlopen"))
    try FileManager.default.removeItem(at: folder.place("libhost.so"))
    let outcome = try probe(folder).expect(1)
    #expect(
      outcome.output.contains("probe loads nothing into host: it ends with status 127"),
      "\(outcome)")
    #expect(outcome.output.contains("libhost.so"), "\(outcome)")
    for (file, host, words) in [
      ("plugin.so", "plugin.so", "It is no executable"), ("nowhere", "host", "No such file"),
      ("plugin.so", "plugin.so.source.c", "plugin.so.source.c"),
    ] {
      let outcome = try probe(folder, file: file, host: host).expect(2)
      #expect(outcome.errors.contains(words), "\(outcome)")
    }
    #expect(try probe(folder, ["--limit", "0"]).expect(64).errors.contains("positive"))
  }
}

extension String {
  fileprivate var lastPart: String { URL(fileURLWithPath: self).lastPathComponent }
}
