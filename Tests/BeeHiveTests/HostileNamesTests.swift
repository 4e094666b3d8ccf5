import BinaryImage
import Foundation
import Registration
import Testing
import Threads

@testable import BeeHive

private struct Plain: Module {}
private struct Rude: Module {
  struct Oath: Error, CustomStringConvertible { var description: String { "\u{1b}[31m\r\nfake" } }
  func setUp(_ context: Context) async throws { throw Oath() }
}

@Suite("Control characters in names, and files of one name")
struct HostileNamesTests {
  /// Moves the cursor, begins a line, reverses a line.
  private static let name = "a\u{1b}[2J\r\nstarted: all\u{202e}"
  private static let escaped = "a\\x1b[2J\\x0d\\x0astarted: all\\u{202e}"

  /// Holds a text to what a terminal shows as it is, line by line.
  private func expectPrintable(_ text: String, _ comment: Comment? = nil) {
    for scalar in text.unicodeScalars where scalar != "\n" {
      #expect(scalar.properties.generalCategory != .control, comment)
      #expect(scalar.properties.generalCategory != .format, comment)
    }
  }

  @Test("reports, log lines and errors escape them; the values keep them")
  func escapedEverywhere() async throws {
    let hive = Hive()
    let name = Self.name
    let said = Lock<[String]>([])
    hive.observe { notice in said.withLock { $0.append("\(notice)") } }
    try await hive.register(module: name, file: "Mod/\(name).swift") { _ in Plain() }
    try await hive.register(module: "rude", requires: [name]) { _ in Rude() }
    try await hive.register(module: "shop", requires: ["b\(name)"]) { _ in Plain() }
    try hive.register(Int.self, name: name, file: name) { _ in throw Rude.Oath() }
    try? hive.register(Int.self, name: name, file: "two\(name)") { _ in 3 }
    try hive.register(
      Registrations(services: [.init(service: name, impl: name)]), file: "/etc/\(name)")
    let report = hive.report()
    #expect(report.entries.first?.name == name)
    #expect(report.description.contains(Self.escaped))
    #expect(report.description.split(separator: "\n").count == 7)
    expectPrintable(report.description, "the report")
    for entry in hive.entries { expectPrintable("\(entry)\(entry.source)", "an entry") }
    for line in report.entries { expectPrintable(line.reason ?? "", "a reason") }

    let launch = await #expect(throws: LaunchError.self) { try await hive.start() }
    expectPrintable("\(launch as Any)", "a launch error")
    let started = try await hive.start(
      options: LaunchOptions(onFailure: .skip, disabled: ["x\(name)"]))
    #expect(started.started == [name])
    expectPrintable("\(started)", "a launch report")
    let service = #expect(throws: ServiceError.self) { try hive.service(Int.self, name: name) }
    expectPrintable("\(service as Any)", "a service error")
    await hive.stop()
    expectPrintable(hive.profiler.table(), "the profiler")

    let key = Configuration.Key<Int>(name)
    let setting = #expect(throws: Problem.self) { try Configuration().value(key) }
    expectPrintable("\(setting as Any)", "a configuration error")
    let lines = said.withLock { $0 }
    #expect(lines.contains { $0.contains(Self.escaped) })
    for line in lines { expectPrintable(line, "a log line") }
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
    let hive = Hive()
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
