import Foundation
import TestSupport
import Testing

/// A preloaded library counts the calls of libelf, or makes each of them fail.
@Suite("section-dump reads ELF by libelf")
struct LibelfCallsTests {
  @Test("libelf reads each file, each section that is listed and each symbol that is used")
  func counts() throws {
    let counter = try LibelfCounter()
    let library = try Fixtures.annotatedLibrary("counted.so")
    let object = try Fixtures.build(Fixtures.handWritten, as: "counted.o", ["-c"])
    func run(_ arguments: String...) throws -> (outcome: Outcome, counts: [String: Int]) {
      try counter.run(Repository.sectionDump, arguments, in: Fixtures.directory)
    }
    let (listed, counts) = try run("sections", "--format", "json", library, object)
    let sections = try Tool.files(of: listed).reduce(0) {
      $0 + (($1["sections"] as? [Any])?.count ?? 0)
    }
    #expect(sections > 20)
    #expect(counts["elf_begin", default: 0] >= 2)
    #expect(counts["gelf_getshdr", default: 0] >= sections)
    #expect(counts["gelf_getphdr", default: 0] >= 4)

    let (startup, symbols) = try run("startup", library)
    #expect(startup.status == 0)
    let dynamic = try Fixtures.tool("readelf", ["--dyn-syms", "-W", library])
    let rows = dynamic.split(separator: "\n").count { $0.contains(" UND ") }
    #expect(rows > 0)
    #expect(symbols["gelf_getsym", default: 0] >= rows)
    #expect(symbols["gelf_getdyn", default: 0] > 10)
    #expect(symbols["gelf_getrela", default: 0] + symbols["gelf_getrel", default: 0] > 0)

    let (_, notes) = try run("records", library)
    #expect(notes["gelf_getnote", default: 0] >= 1)
    #expect(notes["elf_memory", default: 0] >= 1)
  }

  private static func commands(slotsOf section: String) -> [[String]] {
    ["records", "sections", "verify", "startup", "graph", "conformances"].map { [$0] }
      + ["strings", "hex"].map { [$0, "--section", section] }
  }

  private static let unread = Result {
    let library = try Fixtures.annotatedLibrary("unread.so")
    let folder = try Fixtures.folder("unopened-folder")
    try? FileManager.default.copyItem(
      at: Fixtures.place(library), to: folder.appendingPathComponent(library))
    return commands(slotsOf: "list").map { $0 + [library] } + [
      ["diff", library, library], ["doctor", "--host", "/usr/bin/env", folder.path],
      ["live", "--pid", "\(ProcessInfo.processInfo.processIdentifier)"],
    ]
  }

  @Test("If libelf opens nothing, each command fails and names libelf")
  func broken() throws {
    let counter = try LibelfCounter()
    for command in try Self.unread.get() {
      let (outcome, _) = try counter.run(
        Repository.sectionDump, command, in: Fixtures.directory, isBroken: true)
      #expect(outcome.status != 0, "\(command)")
      #expect((outcome.errors + outcome.output).contains("libelf does not read"), "\(command)")
      #expect(command[0] != "verify" || outcome.output.contains("build the file again"))
    }
  }

  @Test(
    "A library of the system takes at most 25 reads, however many symbols it has", .needs("strace"))
  func reads() throws {
    let needed = try Command.output("ldd", [Repository.sectionDump]).split(separator: " ")
    let essentials = needed.map(String.init).first { $0.hasSuffix("/libFoundationEssentials.so") }
    let paths =
      ["libc.so.6", "libstdc++.so.6", "libpython3.11.so.1.0", "libicuuc.so.72", "libLLVM-15.so.1"]
      .compactMap { name in
        ["/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/"].map { $0 + name }
          .first(where: FileManager.default.fileExists)
      } + [try #require(essentials).replacing("Essentials", with: "")]
    for path in paths {
      for command in Self.commands(slotsOf: ".data.rel.ro") + [["strings", "--section", ".dynstr"]]
      {
        // The 8.5 MB of pointers of LLVM take minutes in a debug build, and 46 reads: see Benchmarks.
        if path.contains("LLVM"), command.last == ".data.rel.ro" { continue }
        let outcome = try Fixtures.run(
          "strace", ["-f", "-e", "trace=pread64", Repository.sectionDump] + command + [path])
        let reads = outcome.errors.split(separator: "\n").count { $0.contains("pread64(") }
        #expect(reads > 0 && reads <= 25, "\(command) \(path)")
      }
    }
  }
}
