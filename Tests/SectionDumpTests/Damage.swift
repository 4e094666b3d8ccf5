import Foundation
import TestSupport
import Testing

/// Variants of a file, and what the tool says of each: one process reads all of them, within bounds
/// that hold for every single one.
struct Damage {
  /// What the tool says of one file.
  private struct Answer {
    var entries: [String] = []
    var hasProblem = false
    var isThere = false
  }

  /// The address space of the process in bytes. What it has read is forgotten with each file, so
  /// that none of them may take more.
  static let mostMemory = 256 << 20
  /// The bytes that are printed of one image at most.
  static let mostText = 1 << 20

  private let variants: [(name: String, bytes: Data)]
  /// One for each variant, and one for the file that is whole.
  private var answers: [Answer]

  /// Has the tool read the file, and the variants of it.
  init(of whole: Data, _ variants: [(name: String, bytes: Data)]) throws {
    self.variants = variants
    let files = variants.map(\.bytes) + [whole]
    answers = files.map { _ in Answer() }
    let folder = try Self.folder(for: files.reduce(0) { $0 + $1.count + 4096 })
    defer { try? FileManager.default.removeItem(at: folder) }
    var list = Data()
    for (number, bytes) in files.enumerated() {
      let file = folder.appendingPathComponent(String(number))
      try bytes.write(to: file)
      list += Data(file.path.utf8) + [0]
    }
    for line in try Self.lines(of: list) {
      let object = try JSONSerialization.jsonObject(with: line)
      let file = try #require(object as? [String: Any])
      let path = try #require(file["path"] as? String)
      let number = try #require(Int(URL(fileURLWithPath: path).lastPathComponent))
      answers[number].isThere = true
      answers[number].entries += try Tool.lines(file)
      if try !#require(file["problems"] as? [Any]).isEmpty { answers[number].hasProblem = true }
    }
    let isWhole = answers.allSatisfy(\.isThere)
    #expect(isWhole, "each file is told of")
  }

  /// The entries of the whole file, which has no problem.
  private func entries() throws -> [String] {
    let whole = try #require(answers.last)
    #expect(!whole.entries.isEmpty && !whole.hasProblem)
    return whole.entries.sorted()
  }

  /// The variants that show other entries than the file, and no problem.
  func silentlyDifferent() throws -> [String] {
    let whole = try entries()
    return zip(variants, answers).compactMap { variant, answer in
      answer.hasProblem || answer.entries.sorted() == whole ? nil : variant.name
    }
  }

  /// A folder in memory, where there is one with so much room: thousands of files would keep a disk
  /// busy. Others write there too.
  static func folder(for size: Int) throws -> URL {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)
    let free = (attributes?[.systemFreeSize] as? NSNumber)?.intValue ?? 0
    guard free > 4 * size, FileManager.default.isWritableFile(atPath: memory.path) else {
      return try Folder().url
    }
    let folder = memory.appendingPathComponent("beehive-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// The lines that the tool prints of the files in a list.
  private static func lines(of list: Data) throws -> [Data] {
    let outcome = try Fixtures.run(
      "prlimit",
      [
        "--as=\(mostMemory)", Repository.sectionDump, "--stdin0", "--jobs", "1", "--format",
        "ndjson",
      ], input: list)
    #expect(outcome.status == 2, "\(outcome.errors.suffix(1000))")
    let lines = outcome.output.utf8.split(separator: UInt8(ascii: "\n")).map { Data($0) }
    #expect(lines.allSatisfy { $0.count < mostText })
    return lines
  }
}
