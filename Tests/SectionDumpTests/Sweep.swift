import Foundation
import TestSupport
import Testing

/// Runs commands over damaged files: many in one process, and one by one if that goes wrong.
///
/// A run goes wrong if it takes more than its processor time, memory or output. It also goes wrong if a signal ends it
/// or its JSON cannot be read.
struct Sweep {
  /// A damaged file, and a name that tells how it was made.
  struct Variant {
    var name: String
    var bytes: Data
  }

  /// The most bytes of output for a byte of input, in addition to what any file may print.
  private static let textPerByte = 64
  private static let mostText = 1 << 20
  /// The address space of the process in bytes, in addition to that of the files.
  private static let mostMemory = 512 << 20
  /// The seconds of processor time that all files of a run may take together. The guard is far above the needs of a
  /// build without optimisation.
  private static let mostTime = 60

  var variants: [Variant]
  /// Paths that come before each of the files.
  var others: [String] = []

  /// Reads the files, and returns which of them went wrong and how.
  ///
  /// - Parameter commands: The arguments before the paths, of each command in turn.
  /// - Returns: A line for each file and command that went wrong.
  /// - Throws: The error that keeps the tool from being run.
  func failures(of commands: [[String]]) throws -> [String] {
    let size = variants.reduce(0) { $0 + $1.bytes.count }
    let folder = try Self.folder(for: size + 4096 * variants.count)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try Self.write(variants.map(\.bytes), in: folder)
    return try commands.flatMap { command -> [String] in
      guard try Self.failure(of: command, others + files, size: size) != nil else { return [] }
      var failures: [String] = []
      for (variant, file) in zip(variants, files) {
        let size = variant.bytes.count
        guard let failure = try Self.failure(of: command, others + [file], size: size) else {
          continue
        }
        failures.append("\(variant.name): \(failure) (\(try Self.keep(variant)))")
      }
      return failures.isEmpty
        ? ["\(command.joined(separator: " ")): \(files.count) files that are well alone"] : failures
    }
  }

  /// Makes a folder in memory if there is enough room, because thousands of files would keep a disk busy. Other
  /// programs write there too.
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

  /// Writes files, each named by its number, and returns their paths.
  static func write(_ files: [Data], in folder: URL) throws -> [String] {
    try files.enumerated().map { number, bytes in
      let file = folder.appendingPathComponent("\(number)")
      try bytes.write(to: file)
      return file.path
    }
  }

  /// Returns the reason why a run went wrong; nil if it did not.
  private static func failure(
    of command: [String], _ paths: [String], size: Int
  ) throws -> String? {
    let text = mostText * paths.count + textPerByte * size
    let outcome = try Fixtures.run(
      "prlimit",
      ["--as=\(mostMemory + size)", "--cpu=\(mostTime)", "--fsize=\(text)", "--core=0"]
        + [Repository.sectionDump] + command + paths)
    guard (0...2).contains(outcome.status) else {
      return
        "\(command.joined(separator: " ")): status \(outcome.status) \(outcome.errors.suffix(400))"
    }
    guard command.last == "json" else { return nil }
    do {
      _ = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      return nil
    } catch {
      return "\(command.joined(separator: " ")): \(error)"
    }
  }

  /// Keeps a file for people to look at, and returns its path.
  private static func keep(_ variant: Variant) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("beehive-findings")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent(UUID().uuidString)
    try variant.bytes.write(to: file)
    return file.path
  }
}

extension Sweep.Variant {
  /// Boundary values of numbers and sizes, and values near them.
  private static let limits: [UInt64] = [
    0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff,
    0x7fff_ffff_ffff_ffff, 0xffff_ffff_ffff_fff8, .max,
  ]

  /// Changes a file up to four times: bits, numbers at the limits of their type, blocks copied from elsewhere in the
  /// file, or an early end. Most changes are near the start, where headers are.
  init(of whole: Data, named name: String, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var bytes = [UInt8](whole)
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      guard bytes.count > 16 else { break }
      let end = Bool.random(using: &generator) ? min(1024, bytes.count) : bytes.count
      let place = Int.random(in: 0..<end, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...2:
        bytes[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
      case 3, 4, 5:
        let size = [1, 2, 4, 8].randomElement(using: &generator) ?? 8
        let start = min(place & ~(size - 1), bytes.count - size)
        var value = Self.limits.randomElement(using: &generator) ?? 0
        if Bool.random(using: &generator) { value = value.byteSwapped }
        for index in 0..<size {
          bytes[start + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
        }
      case 6:
        let count = min(Int.random(in: 1...64, using: &generator), bytes.count)
        let source = Int.random(in: 0...bytes.count - count, using: &generator)
        let target = min(place, bytes.count - count)
        bytes.replaceSubrange(target..<target + count, with: Array(bytes[source..<source + count]))
      default:
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator) / 4)
      }
    }
    self.init(name: "\(name), seed \(seed)", bytes: Data(bytes))
  }
}
