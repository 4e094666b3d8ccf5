import Foundation
import TestSupport
import Testing

@Suite("The doctor explains which plugins a host would load")
struct DoctorTests {
  /// Makes a host, a text, and plugins: a good one, one that needs it, one writable by all, one that waits for that.
  private func patient() throws -> Folder {
    let folder = try Folder()
    try folder.makeFolder("plugins")
    try Compiler.compile(
      "int main(void) { return 0; }", as: "host", in: folder.url, ["-Wl,--build-id"])
    for (name, required) in [("ledger", ""), ("audit", "ledger"), ("open", ""), ("waits", "open")] {
      let attributes = required.isEmpty ? "\"\"" : "BEEHIVE_REQUIRES(\"\(required)\")"
      let run = "\n__attribute__((constructor)) static void run_\(name)(void) {}"
      try Compiler.library(
        Compiler.module(name, attributes) + run, as: "plugins/lib\(name).so", in: folder.url)
      try FileManager.default.removeItem(at: folder.place("plugins/lib\(name).so.source.c"))
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o666], ofItemAtPath: folder.place("plugins/libopen.so").path)
    try folder.write("hello", as: "plugins/README")
    return folder
  }

  private func doctor(
    _ folder: Folder, _ arguments: [String] = [], paths: [String] = ["plugins"],
    host: String = "host"
  ) throws -> Outcome {
    try Command.run(
      Repository.sectionDump, ["doctor"] + paths + ["--host", host] + arguments, in: folder.url)
  }

  @Test("as text: those that load in their order, then causes and what follows from them")
  func text() throws {
    let outcome = try doctor(patient()).expect(1)
    #expect(outcome.errors.isEmpty)
    let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
    try expectGolden(lines.dropFirst().joined(separator: "\n"), "doctor.txt")
    #expect(outcome.lines.first?.hasPrefix("Host: host, ") == true)
  }

  @Test("with $ORIGIN as the loader spells it out, however the path is typed")
  func origin() throws {
    let folder = try patient()
    let needed = try Compiler.library(
      "int needed;", as: "plugins/libneeded_origin.so", in: folder.url,
      ["-Wl,-soname,libneeded_origin.so"])
    let plugin = "plugins/liborigin.so"
    try Compiler.library(
      Compiler.module("origin"), as: plugin, in: folder.url,
      ["-Wl,--no-as-needed", needed.path, "-Wl,-rpath,\(folder.path)/$ORIGIN"])
    for path in [plugin, folder.place(plugin).path] {
      try doctor(folder, paths: [path]).expect(1, output: "[missing-library]")
    }
  }

  @Test(
    "of a host that gets more rights, which has another search for libraries",
    arguments: [false, true])
  func rights(areCapabilities: Bool) throws {
    let folder = try patient()
    let host = folder.place("host").path
    if areCapabilities {
      try Needs.programs("setcap")
      guard try Command.run("setcap", ["cap_net_bind_service=ep", host]).status == 0 else {
        try Test.cancel("this user gives no capabilities")
      }
    } else {
      try FileManager.default.setAttributes([.posixPermissions: 0o4755], ofItemAtPath: host)
    }
    try doctor(folder).expect(2, errors: "more rights than the user who starts it")
  }

  @Test("as JSON, NDJSON and CSV, with the same in each")
  func formats() throws {
    let folder = try patient()
    let json = try doctor(folder, ["--format", "json"])
    let document = try Tool.object(json.output)
    #expect(
      Set(document.keys)
        == [
          "schema", "host", "machine", "libraries", "plugins", "skipped", "others", "problems",
          "note",
        ])
    #expect(document["skipped"] as? Int == 1)
    let others = try #require(document["others"] as? [[String: String]])
    #expect(
      others == [
        [
          "path": "plugins/README", "code": "not-an-object", "message": "It is no object file.",
          "remedy": "leave the file out, or name what it was built from",
        ]
      ])
    let plugins = try #require(document["plugins"] as? [[String: Any]])
    #expect(plugins.map { $0["order"] as? Int } == [2, 1, nil, nil])
    #expect(
      plugins.map { ($0["path"] as? String) }
        == ["audit", "ledger", "open", "waits"].map { "plugins/lib\($0).so" })
    let refusal = try #require((plugins[3]["refusals"] as? [[String: Any]])?.first)
    #expect(Set(refusal.keys) == ["code", "message", "expected", "found", "remedy", "cause"])
    #expect(refusal["cause"] as? String == "plugins/libopen.so")

    let lines = try doctor(folder, ["--format", "ndjson"]).output.split(separator: "\n")
    #expect(lines.count == 4)
    for (line, plugin) in zip(lines, plugins) {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
      #expect(object == plugin as NSDictionary)
    }
    let rows = Tool.rows(try doctor(folder, ["--format", "csv"]).output)
    #expect(
      rows.map { Array($0.prefix(5)) } == [
        ["path", "loads", "order", "code", "cause"],
        ["plugins/libaudit.so", "true", "2", "", ""],
        ["plugins/libledger.so", "true", "1", "", ""],
        ["plugins/libopen.so", "false", "", "writable-by-others", ""],
        ["plugins/libwaits.so", "false", "", "refused-provider", "plugins/libopen.so"],
      ])
  }

  /// Options, and the expected codes of the plugins in the order of their names.
  static let policies: [(options: [String], codes: [String])] = [
    (["--any-owner"], ["", "", "", ""]),
    (["--any-owner", "--startup", "anchor"], Array(repeating: "runs-at-startup", count: 4)),
    (["--any-owner", "--strict"], Array(repeating: "runs-at-startup", count: 4)),
    (["--any-owner", "--strict", "--startup", "anything"], ["", "", "", ""]),
    (["--any-owner", "--deny", "libledger.*"], ["refused-provider", "denied", "", ""]),
    (
      ["--any-owner", "--allow", "libl*", "--allow", "liba*"],
      ["", "", "not-allowed", "not-allowed"]
    ),
    (["--any-owner", "--hardened"], ["", "", "", ""]),
    (["--any-owner", "--table", "Greeter=8"], ["", "", "", ""]),
  ]

  @Test("under the policy that is asked for", arguments: policies)
  func policy(options: [String], codes: [String]) throws {
    let outcome = try doctor(patient(), ["--format", "csv"] + options)
    let rows = Tool.rows(outcome.output).dropFirst()
    #expect(rows.map { $0[3] } == codes, "\(outcome)")
    #expect(outcome.status == (codes.allSatisfy(\.isEmpty) ? 0 : 1))
  }

  @Test("a file system that is mounted noexec, where the loader opens nothing")
  func noexec() throws {
    let folder = try patient()
    try folder.makeFolder("mounted")
    try Compiler.compile(Repository.fixture("Libraries/opens.c"), as: "opens", in: folder.url, [])
    let script = """
      mount -t tmpfs -o noexec,mode=755 none mounted && cp plugins/libledger.so mounted || exit
      ./opens "$PWD/mounted/libledger.so"
      exec "$0" doctor mounted --host host --any-owner
      """
    let outcome = try Command.run(
      "unshare", ["-rm", "sh", "-c", script, Repository.sectionDump], in: folder.url)
    guard let opened = outcome.lines.first else {
      try Test.cancel("no namespace to mount in: \(outcome.errors)")
    }
    #expect(opened == "false")
    #expect(outcome.status == 1)
    for text in ["noexec", "[not-loadable]"] { #expect(outcome.output.contains(text)) }
  }

  @Test("each file of a folder that is no plugin, with the reason, and that there is none")
  func noPlugins() throws {
    let folder = try patient()
    try folder.makeFolder("others/more")
    let source = "int main(void) { return 0; }"
    for (name, option) in [("run", "-pie"), ("a.o", "-c")] {
      try Compiler.compile(source, as: "others/\(name)", in: folder.url, [option])
    }
    try Compiler.library("int x;", as: "others/libplain.so", in: folder.url)
    let entry = "__attribute__((used, section(\"BeehiveModules\"))) const char *const e = \"Shop\";"
    try Compiler.library(entry, as: "others/liblook.so", in: folder.url)
    try Command.output("sh", ["-c", "rm others/*.c"], in: folder.url)
    let outcome = try doctor(folder, paths: ["others"]).expect(
      1, errors: "others: It has files but no plugin; --allow-empty accepts that.")
    let text = outcome.output.components(separatedBy: "5 files are no plugins:\n").last
    #expect(
      text == """
          liblook.so   The section BeehiveModules is not read; entries are in BeehiveMods; call it BeehiveMods, or \
        declare its entries with BeeHive.h.
          more         It is a directory, and not looked into; name it too if it has plugins.
          a.o          It is an object file; link it into a shared library.
          libplain.so  It is a shared library, and declares nothing.
          run          It is a program, which no host can open.

        """)
    #expect(outcome.output.contains("note: the host has no Hive;"))
    try doctor(folder, ["--allow-empty"], paths: ["others"]).expect(0)
    // An empty folder may be intended.
    try folder.makeFolder("none")
    try doctor(folder, paths: ["none"]).expect(0)
    try folder.makeFolder("outer/inner")
    try doctor(folder, paths: ["outer"]).expect(1, errors: "outer: It has files but no plugin")
  }

  @Test("a name in the policy that no file has is told")
  func vain() throws {
    let options = [
      "--any-owner", "--deny", "libledger.*", "--deny", "libleger.*", "--allow", "lib*", "--table",
      "Till=8",
    ]
    let outcome = try doctor(patient(), options)
    #expect(
      outcome.errors == """
        section-dump: --deny 'libleger.*': no file matches it
        section-dump: --table Till: no plugin has this service

        """)
  }

  @Test("and says what cannot be read: a host, a directory, what is named and is no plugin")
  func unreadable() throws {
    let folder = try patient()
    try folder.write("no library", as: "libtext.so")
    let rows: [(arguments: [String], status: Int32, says: String)] = [
      (["plugins", "--host", "nowhere"], 2, "No such file"),
      (["plugins", "--host", "plugins/libledger.so"], 2, "It is no executable"),
      (["nowhere", "--host", "host"], 2, "No such file"),
      (["plugins/README", "--host", "host"], 2, "It is no object file"),
      (["libtext.so", "--host", "host"], 2, ""),
      (["plugins/libledger.so", "--host", "host"], 0, ""),
      (["plugins", "--host", "host", "--table", "Greeter"], 64, "service=bytes"),
      (["plugins", "--host", "host", "--table", "=8"], 64, "service=bytes"),
      (["plugins", "--host", "host", "--table", "Greeter=8@"], 64, "service=bytes"),
      (["plugins", "--host", "host", "--allow", ""], 64, "a pattern"),
      (["plugins", "--host", "host", "--deny", ""], 64, "a pattern"),
      (["plugins"], 64, "--host"), (["--host", "host"], 64, "paths"),
    ]
    for (arguments, status, says) in rows {
      let outcome = try Command.run(
        Repository.sectionDump, ["doctor"] + arguments, in: folder.url
      ).expect(status)
      #expect(outcome.errors.contains(says) || says.isEmpty, "\(outcome)")
    }
  }

  @Test(
    "and tells what has no name in UTF-8, what leads nowhere, and in JSON what it could not read")
  func unnamed() throws {
    let folder = try patient()
    try makeLink(at: folder.place("plugins/libgone.so").path, to: "nowhere.so")
    try Command.output(
      "bash", ["-c", "cp libledger.so $'lib\\xff.so'; cp README $'\\xff'"],
      in: folder.place("plugins"))
    try doctor(folder, ["--any-owner"]).expect(
      1, output: "lib\u{fffd}.so\n    Its name is not UTF-8.",
      "3 files are no plugins:\n  libgone.so  It is a link that leads nowhere.")
    let json = try doctor(folder, ["nowhere", "--format", "json"]).expect(2)
    let document = try Tool.object(json.output)
    #expect(document["problems"] as? [String] == ["nowhere: No such file or directory."])
    try Command.run(
      "bash",
      ["-c", "exec \"$0\" doctor plugins/$'lib\\xff.so' --host host", Repository.sectionDump],
      in: folder.url
    ).expect(2, errors: "Its name is not UTF-8")
  }

  @Test("asks services in C for tables of the host's size and version")
  func tables() throws {
    let folder = try patient()
    try Compiler.library(
      """
      #include <BeeHive.h>
      static const struct { int (*greet)(void); } table;
      BEEHIVE_SERVICE(Greeter, English, &table, BEEHIVE_ABI("2"));
      """, as: "plugins/libenglish.so", in: folder.url)
    for (table, code) in [
      ("Greeter=8@2", ""), ("Greeter=16@2", "contract-drift"), ("Greeter=8@3", "contract-drift"),
      ("Greeter=8", ""), ("Other=16", ""),
    ] {
      let outcome = try doctor(
        folder, ["--format", "csv", "--any-owner", "--table", table],
        paths: ["plugins/libenglish.so"])
      #expect(Tool.rows(outcome.output).last?[3] == code, "\(table): \(outcome)")
    }
  }

  @Test("and says what keeps a host from starting, and judges no symbols there")
  func notStartable() throws {
    let folder = try patient()
    try Compiler.library("int gone(void) { return 1; }", as: "libgone.so", in: folder.url)
    for (name, option, words) in [
      ("host2", "-lgone", "It needs the library libgone.so, which the loader does not find"),
      ("host3", "-Wl,-I,/gone/ld.so", "Its interpreter, /gone/ld.so, is not there"),
      ("host4", "-Wl,-I,/bin/sh", "Its interpreter, /bin/sh, is not that of glibc"),
      ("host5", "-static", "It is linked statically: its plugins get a C library of their own"),
    ] {
      try Compiler.compile(
        "int main(void) { return 0; }", as: name, in: folder.url,
        ["-L.", "-Wl,--no-as-needed", option])
      try? FileManager.default.removeItem(at: folder.place("libgone.so"))
      let outcome = try doctor(folder, host: name).expect(2, errors: words)
      #expect(name != "host2" || outcome.output.contains("2 of 4 plugins would load"), "\(outcome)")
    }
  }
}
