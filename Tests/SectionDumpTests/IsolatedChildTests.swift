import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import section_dump

@Suite(
  "With --isolate, one child reads many files and is replaced where one has ended it",
  .limitsMemory)
struct IsolatedChildTests {
  /// What became of files, each of which was given to a child in turn.
  private struct Reading {
    /// Of each file the number of reports, or the reason why there is none.
    var reports: [Result<Int, ImageError>] = []
    var started = 0

    init(_ paths: [String], _ arguments: [String], _ program: String = Repository.sectionDump) {
      let child = IsolatedChild(
        program: program, arguments: (arguments + ["--isolate", "x", "y"]).map { Array($0.utf8) })
      for path in paths {
        let input = Input(path: Array(Fixtures.place(path).path.utf8))
        var count = 0
        do throws(ImageError) {
          try child.read(input, style: Style(isColored: false)) { piece, bytes in
            let hasName = String(decoding: bytes, as: UTF8.self).contains(path)
            if piece == .output, hasName { count += 1 }
          }
          reports.append(.success(count))
        } catch {
          reports.append(.failure(error))
        }
      }
      started = child.started
    }

    var counts: [Int?] { reports.map { try? $0.get() } }
  }

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

  @Test("A hundred files take one child")
  func many() throws {
    let paths = try Self.good(100, "many")
    let reading = Reading(paths, ["records"])
    #expect(reading.counts == paths.map { _ in 1 })
    #expect(reading.started == 1)
  }

  @Test("One that ends its child costs that one, and another that proves it")
  func hungry() throws {
    var paths = try Self.good(60, "beside-the-hungry")
    paths.insert(try IsolationTests.hungryArchive("hungry-amid-many.a"), at: 30)
    let reading = Reading(paths, ["records"])
    #expect(reading.counts == paths.indices.map { $0 == 30 ? nil : 1 })
    #expect(throws: ImageError.self) { try reading.reports[30].get() }
    #expect(reading.started <= 4)
  }

  @Test("Each that ends its child is a problem, however many there are")
  func allHungry() throws {
    let hungry = try IsolationTests.hungryArchive("hungry-all.a")
    let reading = Reading([hungry, hungry, hungry], ["records"])
    #expect(reading.counts == [nil, nil, nil])
    #expect(reading.started == 3)
  }

  @Test("One that hangs is ended alone, after its time and not that of others", .full)
  func hanging() throws {
    let long = try IsolationTests.longLibrary.get()
    var paths = try Self.good(4, "beside-the-long")
    paths.insert(contentsOf: [long, long], at: 2)
    let reading = Reading(paths, ["hex", "--section", "list"])
    #expect(reading.counts[2] == nil && reading.counts[3] == nil)
    #expect(reading.counts.count { $0 != nil } == 4)
    #expect(reading.started == 3)
  }

  @Test("One that somebody stops is ended, and the next file is read by another", .full)
  func stopped() throws {
    let reading = Reading(try Self.good(1, "by-a-stopped"), ["-c", "kill -STOP $$"], "/bin/sh")
    guard case .failure(let error) = try #require(reading.reports.first) else {
      Issue.record("a stopped child has read a file")
      return
    }
    #expect(error.code == .killed && error.message.contains("said nothing"), "\(error.message)")
  }

  @Test("A program that is no such child is a reason for each file")
  func otherProgram() throws {
    let paths = try Self.good(2, "by-another")
    for (program, reason) in [("/bin/true", "broke off"), ("/nosuch", "could be started")] {
      let reading = Reading(paths, ["records"], program)
      for report in reading.reports {
        guard case .failure(let error) = report else {
          Issue.record("\(program) has read a file")
          continue
        }
        #expect(error.code == .killed && error.message.contains(reason), "\(error.message)")
      }
    }
  }

  @Test("Reports of every size come whole, in the order of the files", arguments: [1, 3])
  func sizes(jobs: Int) throws {
    let small = try Self.good(40, "small-and-large-\(jobs)")
    let large = try Fixtures.build(
      ".section list, \"aw\"\n.zero 1 << 16\n.section .note.GNU-stack, \"\", %progbits",
      as: "large-report-\(jobs).so", suffix: "s", ["-shared"])
    let paths = small.flatMap { [$0, "nosuch"] } + [large] + small
    let arguments = ["sections", "--format", "json", "--jobs", "\(jobs)"] + paths
    let plain = try Tool.run(arguments)
    let isolated = try Tool.run(arguments + ["--isolate"])
    #expect(isolated.output == plain.output)
    #expect(isolated.errors == plain.errors)
    #expect(try Tool.files(of: isolated).compactMap { $0["path"] as? String } == paths)
  }

  @Test("Each of three requirements is met by another file")
  func requirements() throws {
    let files = try ["One", "Two", "Three"].map { name in
      try Fixtures.build(
        "#include <BeeHive.h>\nBeeHiveMod(Shop.\(name));", as: "requires-\(name).so",
        ["-shared", "-fPIC"])
    }
    let requirements = ["Two", "One", "Three", "Four"].flatMap {
      ["--require", "module:Shop.\($0)"]
    }
    let outcome = try Tool.run(["--isolate"] + requirements + files)
    #expect(outcome.errors == "section-dump: no file has the required module Shop.Four\n")
    #expect(outcome.status == 1)
  }
}
