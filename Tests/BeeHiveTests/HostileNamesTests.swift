import BinaryImage
import Registration
import Testing

@testable import BeeHive

private struct Plain: Module {}
private struct Rude: Module {
  struct Oath: Error, CustomStringConvertible { var description: String { "\u{1b}[31m\r\nfake" } }
  func setUp(_ context: Context) async throws { throw Oath() }
}

@Suite("Control characters in names, and files of one name")
struct HostileNamesTests {
  private let hive = Hive()

  /// A name that moves the cursor, begins a line and reverses a line.
  private static let name = "a\u{1b}[2J\r\nstarted: all\u{202e}"
  private static let escaped = "a\\x1b[2J\\x0d\\x0astarted: all\\u{202e}"

  /// Expects that a terminal shows each line of a text as it is.
  private func expectPrintable(_ text: String, _ what: String) {
    for scalar in text.unicodeScalars where scalar != "\n" {
      #expect(scalar.properties.generalCategory != .control, "\(what)")
      #expect(scalar.properties.generalCategory != .format, "\(what)")
    }
  }

  @Test("reports, log lines and errors escape them; the values keep them")
  func escapedEverywhere() async throws {
    let name = Self.name
    let said = Journal()
    hive.observe { said.write("\($0)") }
    try await hive.register(module: name, file: "Mod/\(name).swift") { _ in Plain() }
    try await hive.register(module: "rude", requires: [name]) { _ in Rude() }
    try await hive.register(module: "shop", requires: ["b\(name)"]) { _ in Plain() }
    try hive.register(Int.self, name: name, file: name) { _ in throw Rude.Oath() }
    try? hive.register(Int.self, name: name, file: "two\(name)") { _ in 3 }
    try hive.declare(name, by: name, in: "/etc/\(name)")
    let report = hive.report()
    #expect(report.entries.first?.name == name)
    #expect(report.description.contains(Self.escaped))
    #expect(report.description.split(separator: "\n").count == 7)
    let launch = await #expect(throws: LaunchError.self) { try await hive.start() }
    let started = try await hive.start(
      options: LaunchOptions(onFailure: .skip, disabled: ["x\(name)"]))
    #expect(started.started == [name])
    let service = #expect(throws: ServiceError.self) { try hive.service(Int.self, name: name) }
    await hive.stop()
    let setting = #expect(throws: Problem.self) {
      try Configuration().value(Configuration.Key<Int>(name))
    }
    #expect(said.lines.contains { $0.contains(Self.escaped) })
    for (what, texts) in [
      ("the report", [report.description]), ("an entry", hive.entries.map { "\($0)\($0.source)" }),
      ("a reason", report.entries.map { $0.reason ?? "" }),
      ("a launch error", ["\(launch as Any)"]),
      ("a launch report", ["\(started)"]), ("a service error", ["\(service as Any)"]),
      ("the profiler", [hive.profiler.table()]), ("a setting's error", ["\(setting as Any)"]),
      ("a log line", said.lines),
    ] as [(String, [String])] {
      for text in texts { expectPrintable(text, what) }
    }
  }

  @Test(
    "two files of one name are told apart by their modules, or by as much of their paths as it takes",
    arguments: [
      (["Shop/Main.swift", "Bank/Main.swift"], ["Shop/Main.swift:1", "Bank/Main.swift:1"]),
      (
        ["/src/one/shop/main.c", "/src/two/shop/main.c"],
        ["one/shop/main.c:1", "two/shop/main.c:1"]
      ),
    ])
  func files(paths: [String], places: [String]) throws {
    try hive.register(Int.self, file: paths[0], line: 1) { _ in 1 }
    let problem = #expect(throws: Problem.self) {
      try hive.register(Int.self, file: paths[1], line: 1) { _ in 2 }
    }
    #expect(problem?.message.hasPrefix("\(places[0]) already provides it") == true)
    #expect(hive.report().entries.map(\.origin) == places)
  }

  @Test("two libraries of one name are told apart by the folders that they do not share")
  func libraries() {
    let images = ["/a/x/lib.so", "/b/x/lib.so", "/b/y/lib.so", "/c/other.so", "/a/x/lib.so"]
    let sources = images.enumerated().map { index, image in
      Source.image(
        Origin(
          image: image, section: "BeehiveRecords", index: index,
          address: VirtualAddress(rawValue: 0)))
    }
    #expect(
      Source.told(apart: sources) == [
        "a/x/lib.so BeehiveRecords[0]", "b/x/lib.so BeehiveRecords[1]",
        "y/lib.so BeehiveRecords[2]", "other.so BeehiveRecords[3]", "a/x/lib.so BeehiveRecords[4]",
      ])
  }
}
