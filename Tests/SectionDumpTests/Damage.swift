import Foundation
import Testing

/// Variants of a file, and what the tool says of each: one process reads all of them, within bounds
/// that hold for every single one.
struct Damage {
  /// What the tool says of one variant.
  struct Answer {
    var entries: [String] = []
    var hasProblem = false
  }

  /// No file may take longer: it is told by when the line of each comes, since each is flushed.
  static let mostSeconds = 1.0
  /// The address space of the process in bytes. What it has read is forgotten with each file, so
  /// that none of them may take more.
  static let mostMemory = 256 << 20

  private let variants: [(name: String, bytes: Data)]
  private(set) var answers: [Answer]

  /// Has the tool read the variants.
  init(_ variants: [(name: String, bytes: Data)]) throws {
    self.variants = variants
    answers = variants.map { _ in Answer() }
    // In memory where there is such a place: thousands of files would keep a disk busy.
    let memory = URL(fileURLWithPath: "/dev/shm")
    let isThere = FileManager.default.isWritableFile(atPath: memory.path)
    let directory = (isThere ? memory : Fixtures.directory)
      .appendingPathComponent("section-dump-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    var list = Data()
    for (number, variant) in variants.enumerated() {
      let file = directory.appendingPathComponent(String(number))
      try variant.bytes.write(to: file)
      list += Data(file.path.utf8) + [0]
    }
    let lines = try Self.lines(of: list)
    var seen: Set<Int> = []
    for line in lines {
      let object = try JSONSerialization.jsonObject(with: line)
      let file = try #require(object as? [String: Any])
      let path = try #require(file["path"] as? String)
      let number = try #require(Int(URL(fileURLWithPath: path).lastPathComponent))
      seen.insert(number)
      answers[number].entries += try Tool.lines(file)
      if try !#require(file["problems"] as? [Any]).isEmpty { answers[number].hasProblem = true }
    }
    #expect(seen.count == variants.count, "each file is told of")
  }

  /// The variants that show other entries than the file of that name, and no problem.
  func silentlyDifferent(from name: String) throws -> [String] {
    let whole = try Self.entries(of: name)
    return zip(variants, answers).compactMap { variant, answer in
      answer.hasProblem || answer.entries.sorted() == whole ? nil : variant.name
    }
  }

  /// The variants that show fewer entries than the file of that name, and no problem.
  func silentlyFewer(than name: String) throws -> [String] {
    let count = try Self.entries(of: name).count
    return zip(variants, answers).compactMap { variant, answer in
      answer.hasProblem || answer.entries.count >= count ? nil : variant.name
    }
  }

  private static func entries(of name: String) throws -> [String] {
    let entries = try Tool.files([Linkages.path(name)]).flatMap(Tool.lines).sorted()
    #expect(!entries.isEmpty)
    return entries
  }

  /// The lines that the tool prints of the files in a list.
  private static func lines(of list: Data) throws -> [Data] {
    let tool = Tool.products.appendingPathComponent("section-dump").path
    let reading = "prlimit --as=\(mostMemory) '\(tool)' --stdin0 --jobs 1 --format ndjson"
    // Passes the lines on, and tells last how long one was waited for at most.
    let timing = #"""
      perl -MTime::HiRes=time -ne 'BEGIN { $last = time; $most = 0 }
        $now = time; $most = $now - $last if $now - $last > $most; $last = $now; print;
        END { print "$most\n" }'
      """#
    let outcome = try Fixtures.run(
      "bash", ["-o", "pipefail", "-c", "\(reading) 2> /dev/null | \(timing)"], input: list,
      limit: 300)
    #expect(outcome.status == 2)
    let lines = outcome.output.split(separator: "\n")
    let slowest = try #require(lines.last.flatMap { Double($0) })
    #expect(slowest < mostSeconds, "a file took \(slowest) s")
    return lines.dropLast().map { Data($0.utf8) }
  }
}
