import Foundation
import TestSupport
import Testing

@Suite("What the images in a running process offer", .serialized)
struct LiveTests {
  /// Runs the host with its libraries while `body` looks at it.
  private func withHost(
    _ libraries: [String], seed: Int? = nil, _ body: (_ process: Int32) throws -> Void
  ) throws {
    let steps = LiveHost.open(libraries) + (seed.map { ["overwrite=\($0)"] } ?? [])
    try LiveHost.run(steps) { pid, _ in try body(pid) }
  }

  @Test("They offer what their files do, found by the note or by the section table")
  func sameAsFiles() throws {
    let noted = try Fixtures.annotatedLibrary("live-noted.so")
    let plain = try Fixtures.build(Fixtures.handWritten, as: "live-plain.so")
    try withHost([noted, plain]) { process in
      // The second library has entries that are rejected, in memory as in the file.
      let images = try Tool.live(["--pid", "\(process)"], status: 2)
      for name in [noted, plain] {
        let image = try #require(images[name])
        let file = try #require(try Tool.files([name]).first)
        #expect(try Tool.lines(image) == Tool.lines(file))
        for key in ["id", "machine", "type", "bits"] {
          #expect("\(image[key] ?? "")" == "\(file[key] ?? "")")
        }
        #expect((image["deleted"] as? Bool, image["replaced"] as? Bool) == (false, false))
        let problems = [image, file].map { ($0["problems"] as? [[String: Any]])?.count }
        #expect(problems[0] == problems[1])
      }
    }
  }

  @Test(
    "Code in the first page of a file begins no image, and another copy behind it does",
    .opensLibrary, arguments: ["bfd", "lld", "mold"], [4, 64])
  func firstPage(linker: String, kilobytes: Int) throws {
    try Needs.linker(linker)
    let name = try Fixtures.build(
      "#include <BeeHive.h>\nBeeHiveMod(Log);", as: "live-small-\(linker)-\(kilobytes).so",
      [
        "-shared", "-fPIC", "-nostdlib", "-fuse-ld=\(linker)",
        "-Wl,-z,max-page-size=\(kilobytes * 1024)",
      ])
    let lines = try Tool.lines(try #require(try Tool.files([name]).first))
    try withHost([name, name]) { process in
      var sources = [["--pid", "\(process)"]]
      if Needs.has("gcore") {
        try Fixtures.tool("gcore", ["-o", "\(name).core", "\(process)"])
        sources.append(["--core", "\(name).core.\(process)"])
      }
      for source in sources {
        let images = try Tool.files(["live"] + source)
          .filter { ($0["path"] as? String)?.hasSuffix(name) == true }
        #expect(
          images.count == 2 && images[0]["mapped"] as? String != images[1]["mapped"] as? String)
        for image in images { #expect(try Tool.lines(image) == lines) }
      }
    }
  }

  @Test("A library that can be run is a library, and a static program is a program")
  func kinds() throws {
    try withHost([]) { process in
      let images = try Tool.live(["--pid", "\(process)"])
      for (name, type) in [("live-host", "executable"), ("libc.so.6", "shared")] {
        #expect(images[name]?["type"] as? String == type, "\(name)")
      }
    }
    let name = try Fixtures.build(
      "#include \"ready.h\"\nint main(void) { be_ready(); }", as: "live-static",
      ["-static-pie", "-fPIE"] + LiveHost.headers)
    let program = Fixtures.place(name).path
    try Command.whileRunning(program, [], in: Fixtures.directory) { process, _ in
      let image = try #require(try Tool.live(["--pid", "\(process)"])[name])
      #expect(image["type"] as? String == "executable")
    }
  }

  @Test("A file that is gone or replaced is told, and what is mapped is still read")
  func goneFiles() throws {
    let names = try (0..<3).map { try Fixtures.annotatedLibrary("live-gone-\($0).so") }
    let other = try Fixtures.build(Fixtures.handWritten, as: "live-other.so")
    try withHost(names) { process in
      let manager = FileManager.default
      let paths = names.map { Fixtures.place($0).path }
      try manager.removeItem(atPath: paths[0])
      try manager.removeItem(atPath: paths[1])
      try manager.moveItem(atPath: Fixtures.place(other).path, toPath: paths[1])
      let images = try Tool.live(["--pid", "\(process)"])
      for (name, state) in zip(names, [(true, false), (true, true), (false, false)]) {
        let image = try #require(images[name])
        #expect((image["deleted"] as? Bool, image["replaced"] as? Bool) == state)
        #expect(try Tool.lines(image).sorted() == Fixtures.annotatedLines.sorted())
      }
      let table = try Tool.run(["live", "--pid", "\(process)"]).output
      #expect(table.contains(", deleted since\n") && table.contains(", replaced since\n"))
    }
  }

  @Test("A file is there that is called as the system calls one that is gone, or in no text")
  func oddNames() throws {
    let name = try Fixtures.annotatedLibrary("live-odd.so (deleted)")
    try Command.output(
      "bash",
      ["-c", "cp \"$0\" $'live-\\xff.so' && ln -sf $'live-\\xff.so' live-bytes.so", name],
      in: Fixtures.directory)
    try withHost([name, "live-bytes.so"]) { process in
      let images = try Tool.live(["--pid", "\(process)"])
      for name in [name, "live-\u{fffd}.so"] {
        let image = try #require(images[name])
        #expect((image["deleted"] as? Bool, image["replaced"] as? Bool) == (false, false))
      }
      let bytes = images["live-\u{fffd}.so"]?["pathBytes"] as? String
      #expect(bytes?.hasSuffix("2d" + "ff" + "2e736f") == true)
    }
  }

  @Test("Without note and without file it is not called empty")
  func nothingToGoBy() throws {
    let name = try Fixtures.build(Fixtures.handWritten, as: "live-lost.so")
    try withHost([name]) { process in
      try FileManager.default.removeItem(at: Fixtures.place(name))
      let image = try #require(try Tool.live(["--pid", "\(process)"], status: 2)[name])
      // A reader that may follow /proc/PID/map_files reads the file that no longer has a name.
      if try Tool.lines(image).isEmpty { #expect(Tool.codes(image) == ["replaced"]) }
    }
  }

  /// Reads a process that may change at any time.
  private func look(at process: Int32) throws {
    let outcome = try Tool.live(process)
    #expect(
      outcome.status == 0 || outcome.status == 2 && outcome.errors.hasPrefix("section-dump: "))
    _ = try Tool.object(outcome.output)
  }

  @Test(
    "Headers that the process has overwritten are a problem or harmless",
    arguments: Effort.sample(8, of: Array(1...24)))
  func hostileMemory(seed: Int) throws {
    let name = try Fixtures.annotatedLibrary("live-hostile-\(seed).so")
    try withHost([name], seed: seed) { try look(at: $0) }
  }

  @Test(
    "A process that ends while it is read is a problem or was read",
    arguments: Effort.sample(6, of: Array(0..<12)))
  func endingProcess(step: Int) throws {
    let name = try Fixtures.annotatedLibrary("live-ending-\(step).so")
    try withHost([name]) { pid in
      Thread.detachNewThread {
        usleep(UInt32(step * 8000))
        kill(pid, SIGKILL)
      }
      try look(at: pid)
    }
  }

  @Test("A process that is not there, or has no memory")
  func noProcess() throws {
    var number: Int32 = 0
    try withHost([]) { number = $0 }
    let outcome = try Tool.run(["live", "--pid", "\(number)"]).expect(2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors == "section-dump: process \(number): There is no such process.\n")
    // The shell's child is never waited for, because `sleep` replaces the shell.
    let script = """
      (while [ "$(cat /proc/$$/comm)" != sleep ]; do :; done) & echo $!; echo ready; exec sleep 3000
      """
    try Command.whileRunning("/bin/sh", ["-c", script], in: Fixtures.directory) { _, printed in
      let ended = try #require(printed.first)
      while try !String(contentsOfFile: "/proc/\(ended)/stat", encoding: .utf8).contains(") Z ") {
        usleep(1000)
      }
      try Tool.run(["live", "--pid", "\(ended)"]).expect(
        2, errors: "It has no memory: it has ended, or belongs to the kernel.")
    }
  }

  private static let somebodyElse = ["--reuid", "65534", "--regid", "65534", "--clear-groups"]

  /// Makes a copy of the tool that another user may run.
  private func sharedTool() throws -> String {
    let tool = Fixtures.place("live-tool").path
    // Another process writes the copy. A child forked here meanwhile would keep the copy open, and nobody could run it.
    try Fixtures.tool("cp", [Repository.sectionDump, tool])
    let mayRun = try Fixtures.run("setpriv", Self.somebodyElse + ["test", "-x", tool]).status == 0
    if !mayRun { try Test.cancel("nobody else may look into \(Fixtures.directory.path)") }
    return tool
  }

  @Test(
    "One that may not be read is told with the setting that counts",
    .needs("setpriv"), .enabled(if: geteuid() == 0, "only root may become somebody else"))
  func permission() throws {
    let tool = try sharedTool()
    try withHost([]) { process in
      try Fixtures.run("setpriv", Self.somebodyElse + [tool, "live", "--pid", "\(process)"]).expect(
        2, errors: "kernel.yama.ptrace_scope")
    }
  }

  @Test(
    "A note with bounds that no linker sets hides nothing, and verify warns of it",
    arguments: [(28, 4), (28, 0x1000), (32, 4), (32, 1 << 20), (12, -0x2000)])
  func badNote(field: Int, difference: Int) throws {
    let whole = try Fixtures.annotatedLibrary("live-good-note.so")
    var file = try LinkedBytes(Fixtures.place(whole).path)
    let head = Data([1, 0x45, 0x45, 0x42] + Array("Beehive\0".utf8))
    let place = try #require(Data(file.bytes).firstRange(of: head)).upperBound + field
    file.put(file.number(at: place, size: 4) + difference, at: place, size: 4)
    let name = "live-bad-note\(field)\(difference).so"
    try file.write(to: Fixtures.place(name))
    try withHost([name]) { process in
      let image = try #require(try Tool.live(["--pid", "\(process)"])[name])
      #expect(try Tool.lines(image).sorted() == Fixtures.annotatedLines.sorted())
    }
    let findings = try Tool.found([name], status: nil)
    #expect(findings.contains { $0.contains(" malformed ") })
  }
}
