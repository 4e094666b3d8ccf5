import Foundation
import TestSupport
import Testing

@Suite(
  "With --isolate, children read the files, and one that ends its child is a problem of it alone",
  .limitsMemory)
struct IsolationTests {
  /// Builds an archive whose one member takes more memory to read than a child may have. The text of an entry inflates
  /// to almost the libelf guard's limit, for libelf and again for its reader.
  private static func hungryArchive(_ name: String) throws -> String {
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
    try Fixtures.tool("objcopy", ["--compress-debug-sections=zlib-gabi", object])
    try Fixtures.tool("ar", ["rc", name, object])
    return name
  }

  /// A library with a section that takes seconds to print.
  private static let longLibrary = Result {
    try Fixtures.build(
      """
      .section list, "aw"
      .rept 1 << 16
      .quad \(Array(repeating: "1, 2, 3", count: 42).joined(separator: ", "))
      .endr

      """,
      as: "hours.so", suffix: "s", ["-shared"])
  }

  /// Returns names of one library each. A child can read all of them.
  private static func good(_ count: Int, _ name: String) throws -> [String] {
    let library = try Fixtures.annotatedLibrary("\(name).so")
    return try (0..<count).map { number in
      let path = "\(name)-\(number).so"
      try? FileManager.default.removeItem(at: Fixtures.place(path))
      try FileManager.default.linkItem(at: Fixtures.place(library), to: Fixtures.place(path))
      return path
    }
  }

  /// Files with entries of every sort, good and bad, with and without Swift types.
  private static let files = Result {
    let types = "public enum Shop { public struct ShopModule {} }\nextension String { struct X {} }"
    let layout = Fixtures.layout
    return [
      try Fixtures.swift(types, as: "isolated-types.so", module: "M"),
      try Fixtures.annotatedLibrary("isolated-annotated.so"),
      try Fixtures.build("int x;", as: "isolated-empty.so"),
      try Fixtures.build(Fixtures.handWritten, as: "isolated-hand.so"),
      try Fixtures.build(layout, as: "isolated-layout.so", suffix: "s", ["-shared", "-fPIC"]),
      try Fixtures.build(layout, as: "isolated-layout.o", suffix: "s", ["-c"]), "nosuch",
    ]
      + (try Linkages.built().filter(
        ["universal.dylib", "universal.a", "archive-gnu.a", "elf-aarch64_be.so", "elf-x32.o"]
          .contains
      ).map(Linkages.path))
  }

  static let commands = [
    ["records", "--require", "module:audio", "--require", "module:nobody"], ["sections"],
    ["strings", "--section", "list"], ["hex", "--section", "BeehiveMods"], ["startup"],
    ["conformances"], ["verify"], ["verify", "--strict", "--require", "module:nobody"],
    ["verify", "--arch", "arm64"], ["graph"],
  ]

  /// Every command with every format, by one thread and by several. A normal run takes half of them.
  static let runs: [([String], Int)] = commands.enumerated().flatMap { number, command in
    let formats = command == ["graph"] ? ["dot", "json"] : ["table", "json", "csv"]
    return formats.enumerated().flatMap { position, format in
      let color = format == "table" ? ["--color", "always"] : []
      let run = command + ["--format", format] + color
      return [1, 3].filter { Effort.isFull || (number + position + $0 / 2) % 2 == 0 }
        .map { (run, $0) }
    }
  }

  @Test("Nothing else is different", .needs("swiftc"), arguments: runs)
  func same(command: [String], jobs: Int) throws {
    #expect(try !Tool.runIsolated(command + Self.files.get(), jobs: jobs).output.isEmpty)
  }

  @Test("Nor between builds", .needs("swiftc"), arguments: ["table", "ndjson"])
  func builds(format: String) throws {
    let files = try Self.files.get()
    for (old, new) in Effort.sample(4, of: Array(zip(files, files.dropFirst()))) {
      let outcome = try Tool.runIsolated(["diff", "--format", format, old, new])
      // Without differences, a format of lines prints nothing.
      #expect(!outcome.output.isEmpty || format == "ndjson")
    }
  }

  @Test("Reports of every size come whole, in the order of the files", arguments: [1, 3])
  func sizes(jobs: Int) throws {
    let small = try Self.good(40, "small-and-large-\(jobs)")
    let large = try Fixtures.build(
      ".section list, \"aw\"\n.zero 1 << 16\n",
      as: "large-report-\(jobs).so", suffix: "s", ["-shared"])
    let paths = small.flatMap { [$0, "nosuch"] } + [large] + small
    let isolated = try Tool.runIsolated(["sections", "--format", "json"] + paths, jobs: jobs)
    #expect(try Tool.files(of: isolated).compactMap { $0["path"] as? String } == paths)
  }

  /// Expects that children read all files except this one, and that this file costs no other.
  private func expect(_ paths: [String], but bad: String, _ arguments: [String]) throws {
    let found = try Tool.files(["--isolate"] + arguments + paths)
    #expect(found.map { $0["path"] as? String } == paths)
    #expect(found.map(Tool.codes) == paths.map { $0 == bad ? ["killed"] : [] })
  }

  @Test("Those that end their child are problems, and cost no other file", arguments: [1, 3])
  func hungry(count: Int) throws {
    var paths = try Self.good(60, "beside-the-hungry-\(count)")
    let hungry = try Self.hungryArchive("hungry-amid-\(count).a")
    paths.insert(contentsOf: Array(repeating: hungry, count: count), at: 30)
    try expect(paths, but: hungry, ["--jobs", "\(count)"])
  }

  @Test("One that takes too long is ended alone, after its time and not that of others", .full)
  func hanging() throws {
    let long = try Self.longLibrary.get()
    var paths = try Self.good(4, "beside-the-long")
    paths.insert(contentsOf: [long, long], at: 2)
    try expect(paths, but: long, ["hex", "--section", "list", "--section", "Beehive*"])
  }

  @Test("Whoever reads the reports may take longer than a child may take for a file", .full)
  func slowReader() throws {
    let words = ".rept 1 << 16\n.long word\n.set word, word + 77777\n.endr\n"
    let large = try Fixtures.build(
      ".set word, 0\n.section list, \"aw\"\n\(words)",
      as: "read-slowly.so", suffix: "s", ["-shared"])
    let arguments = ["hex", "--section", "list", "--isolate", large, large]
    let plain = try Tool.run(arguments)
    let slow = try Tool.shell("\"$0\" \"$@\" | (sleep 35; cat)", arguments)
    Tool.expectSame(slow, plain)
  }

  @Test("One that is killed is a finding, and the others are verified")
  func killedInSet() throws {
    let good = try Fixtures.annotatedLibrary("beside-hungry-set.so")
    let hungry = try Self.hungryArchive("hungry-set.a")
    let other = "beside-hungry-set-other.so"
    try (Fixtures.bytes(good) + [0]).write(to: Fixtures.place(other))
    let outcome = try Tool.run(["verify", "--isolate", "--format", "csv", good, hungry, other])
      .expect(2)
    #expect(outcome.lines.count { $0.hasPrefix("error,killed,hungry-set.a,") } == 1)
    #expect(outcome.lines.count { $0.hasPrefix("error,duplicate-") } == 4)
    let diff = try Tool.run(["diff", "--isolate", good, hungry]).expect(2)
    #expect(diff.errors.hasPrefix("section-dump: hungry-set.a: The child that was to read it "))
    #expect(diff.output == "not compared: nothing of new was read\n")
  }

  @Test(
    "One that takes too much time is killed, and what it has said so far is not printed",
    .needs("prlimit"))
  func tooMuchTime() throws {
    let long = try Self.longLibrary.get()
    let good = try Fixtures.build(Fixtures.handWritten, as: "beside.so")
    let command = [Repository.sectionDump, "hex", "--section", "list", "--isolate"]
    let outcome = try Fixtures.run("prlimit", ["--cpu=1"] + command + [good, long, good]).expect(2)
    let plain = try Tool.run(["hex", "--section", "list", good, good])
    #expect(outcome.output == plain.output + "\n3 files: 2 shown, 1 not read\n")
    #expect(outcome.errors.hasPrefix("section-dump: hours.so: The child that was to read it "))
  }

  /// The messages about a child that receives a signal.
  static let signals =
    [("KILL", "was killed by signal 9")]
    // The tool waits for a stopped child.
    + (Effort.isFull ? [("STOP", "said nothing for 50 seconds")] : [])

  @Test("A child that is killed or stopped is reported; the scan goes on", arguments: signals)
  func killed(signal: String, message: String) throws {
    let good = try Fixtures.build(Fixtures.handWritten, as: "beside-too.so")
    let outcome = try Tool.shell(
      """
      "$0" hex --section list --isolate --format json "$@" & tool=$!
      while [ -z "$child" ]; do read -r child others < /proc/$tool/task/$tool/children; done
      kill -\(signal) "$child"
      wait $tool
      """, [Self.longLibrary.get(), good])
    #expect(try Tool.files(of: outcome).map(Tool.codes) == [["killed"], []])
    outcome.expect(2, errors: message)
  }
}
