import Foundation
import TestSupport
import Testing

@Suite(
  "With --isolate, a file that ends its reader is a problem of that file alone",
  .limitsMemory)
struct IsolationTests {
  /// An archive whose one member takes more memory to read than a child may have: the text of an entry inflates to
  /// almost what the guard of libelf admits, once for libelf and once for its reader.
  static func hungryArchive(_ name: String) throws -> String {
    let object = try Fixtures.build(
      """
      .section BeehiveMods, "aw"
      .quad text
      .section .debug_texts, "", %progbits
      text: .zero 255 << 20
      # Of a small file, so much is not inflated.
      .section .padding, "", %progbits
      .zero 8 << 20

      """,
      as: "\(name).o", suffix: "s", ["-c"])
    let arguments = ["--compress-debug-sections=zlib-gabi", object]
    _ = try Command.output("objcopy", arguments, in: Fixtures.directory)
    _ = try Command.output("ar", ["rc", name, object], in: Fixtures.directory)
    return name
  }

  /// A library with a section that takes seconds to print.
  static let longLibrary = Result {
    try Fixtures.build(
      """
      .section list, "aw"
      .rept 1 << 16
      .quad \(Array(repeating: "1, 2, 3", count: 42).joined(separator: ", "))
      .endr

      """,
      as: "hours.so", suffix: "s", ["-shared"])
  }

  /// Every format, by one thread and by several; half of that is usually enough.
  static let runs = ["table", "json", "csv"].enumerated().flatMap { position, format in
    [1, 3].filter { Effort.isFull || (position + $0 / 2) % 2 == 0 }.map { (format, $0) }
  }

  @Test("Nothing else is different", arguments: runs)
  func sameOutput(format: String, jobs: Int) throws {
    let name = "isolated-\(format)-\(jobs)"
    let paths = [
      try Fixtures.annotatedLibrary("\(name).so"),
      try Fixtures.build("int x;", as: "\(name)-empty.so"), "nosuch",
      try Fixtures.build(Fixtures.handWritten, as: "\(name)-hand.so"),
    ]
    let requirements = ["--require", "module:audio", "--require", "module:nobody"]
    try Tool.runIsolated(
      ["--format", format, "--color", "always"] + requirements + paths, jobs: jobs)
  }

  @Test(
    "Other commands read by children too",
    arguments: [
      ["sections"], ["strings", "--section", "list"], ["hex", "--section", "BeehiveMods"],
      ["startup"], ["conformances"],
    ])
  func otherCommands(command: [String]) throws {
    let name = "isolated-\(command[0]).so"
    let path = try Fixtures.build(Fixtures.handWritten, as: name)
    #expect(try !Tool.runIsolated(command + [path, path]).output.isEmpty)
  }

  @Test(
    "One that takes too much time is killed, and what it has said so far is not printed",
    .needs("prlimit"))
  func tooMuchTime() throws {
    let long = try Self.longLibrary.get()
    let good = try Fixtures.build(Fixtures.handWritten, as: "beside.so")
    let command = [Repository.sectionDump, "hex", "--section", "list", "--isolate"]
    let outcome = try Fixtures.run("prlimit", ["--cpu=1"] + command + [good, long, good])
    let plain = try Tool.run(["hex", "--section", "list", good, good])
    #expect(outcome.status == 2)
    #expect(outcome.output == plain.output + "\n3 files: 2 shown, 1 not read\n")
    #expect(outcome.errors.hasPrefix("section-dump: hours.so: The child that was to read it "))
  }

  /// The messages about a child that gets a signal.
  static let signals =
    [(SIGKILL, "was killed by signal 9")]
    // One that is stopped is waited for.
    + (Effort.isFull ? [(SIGSTOP, "said nothing for 50 seconds")] : [])

  @Test("A child that is killed or stopped is reported; the scan goes on", arguments: signals)
  func killed(signal: Int32, told: String) throws {
    let long = try Self.longLibrary.get()
    let good = try Fixtures.build(Fixtures.handWritten, as: "beside-too.so")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Repository.sectionDump)
    process.currentDirectoryURL = Fixtures.directory
    process.arguments = ["hex", "--section", "list", "--isolate", "--format", "json", long, good]
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try Command.start(process)
    let list = "/proc/\(process.processIdentifier)/task/\(process.processIdentifier)/children"
    var child: Int32?
    while child == nil, process.isRunning {
      let text = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
      child = text.split(separator: " ").first.flatMap { Int32($0) }
    }
    kill(try #require(child), signal)
    let document = try JSONSerialization.jsonObject(
      with: output.fileHandleForReading.readToEnd() ?? Data())
    process.waitUntilExit()
    let files = try #require((document as? [String: Any])?["files"] as? [[String: Any]])
    #expect(files.count == 2)
    #expect((files[0]["problems"] as? [[String: Any]])?.first?["code"] as? String == "killed")
    #expect((files[1]["problems"] as? [Any])?.isEmpty == true)
    #expect(
      String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
        .contains(told))
    #expect(process.terminationStatus == 2)
  }
}
