import Foundation
import TestSupport
import Testing

@Suite(
  "With --isolate, one child reads many files and another goes on where one has ended it",
  .limitsMemory)
struct IsolatedChildTests {
  /// Names of one library each, all of which a child can read.
  private static func good(_ count: Int, _ name: String) throws -> [String] {
    let library = try Fixtures.annotatedLibrary("\(name).so")
    return try (0..<count).map { number in
      let path = "\(name)-\(number).so"
      try? FileManager.default.removeItem(at: Fixtures.place(path))
      try FileManager.default.linkItem(
        at: Fixtures.place(library), to: Fixtures.place(path))
      return path
    }
  }

  /// Of each file the path, the codes of its problems, and how many entries it has.
  private func problems(
    _ arguments: [String]
  ) throws -> [(path: String?, codes: [String], records: Int?)] {
    try Tool.files(["--isolate"] + arguments).map { file in
      let problems = file["problems"] as? [[String: Any]] ?? []
      let codes = problems.map { $0["code"] as? String ?? "" }
      return (file["path"] as? String, codes, (file["records"] as? [Any])?.count)
    }
  }

  @Test("Those that end their child are problems, and cost no other file", arguments: [1, 3])
  func hungry(count: Int) throws {
    var paths = try Self.good(60, "beside-the-hungry-\(count)")
    let hungry = try IsolationTests.hungryArchive("hungry-amid-\(count).a")
    paths.insert(contentsOf: Array(repeating: hungry, count: count), at: 30)
    let found = try problems(["--jobs", "\(count)"] + paths)
    #expect(found.map(\.path) == paths)
    #expect(found.map(\.codes) == paths.map { $0 == hungry ? ["killed"] : [] })
    #expect(found.map(\.records) == paths.map { $0 == hungry ? 0 : 4 })
  }

  @Test("One that takes too long is ended alone, after its time and not that of others", .full)
  func hanging() throws {
    let long = try IsolationTests.longLibrary.get()
    var paths = try Self.good(4, "beside-the-long")
    paths.insert(contentsOf: [long, long], at: 2)
    let found = try problems(["hex", "--section", "list", "--section", "Beehive*"] + paths)
    #expect(found.map(\.codes) == paths.map { $0 == long ? ["killed"] : [] })
  }

  @Test("Whoever reads the reports may take longer than a child may take for a file", .full)
  func slowReader() throws {
    let words = ".rept 1 << 16\n.long word\n.set word, word + 77777\n.endr\n"
    let large = try Fixtures.build(
      ".set word, 0\n.section list, \"aw\"\n\(words)",
      as: "read-slowly.so", suffix: "s", ["-shared"])
    let arguments = ["hex", "--section", "list", "--isolate", large, large]
    let plain = try Tool.run(arguments)
    let slow = try Fixtures.run(
      "sh", ["-c", "\"$0\" \"$@\" | (sleep 35; cat)", Repository.sectionDump] + arguments)
    Tool.expectSame(slow, plain)
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
}
