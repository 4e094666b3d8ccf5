public import Foundation

/// Counts the calls of libelf that a program and its children make, with a preloaded library.
///
/// A run returns an ``Outcome`` and the counts by the names of the calls. The source of the library,
/// `Tests/Fixtures/LibelfCounter/count.c`, lists the calls.
public struct LibelfCounter: Sendable {
  /// Room for the rows of the library: 24 bytes of name and 8 of count.
  private static let (rowSize, fileSize) = (32, 1 << 12)
  private let folder: Folder
  private let library: String

  /// Builds the library.
  public init() throws {
    folder = try Folder()
    let name = "libcount.so"
    library = folder.place(name).path
    // The library links libelf, so the next definition is found in programs that open it later.
    try Compiler.compile(
      Repository.fixture("LibelfCounter/count.c"), as: name, in: folder.url,
      ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-lelf"])
  }

  /// Runs a program to its end, as ``Command/run(_:_:in:input:environment:limit:)`` does.
  ///
  /// - Parameters:
  ///   - program: A path, or a name that is looked up in `PATH`.
  ///   - arguments: Its arguments.
  ///   - folder: Its working directory; this process' own by default.
  ///   - isBroken: Whether `elf_begin` and `elf_memory` return null.
  ///   - environment: Variables that are set in addition to those of this process.
  /// - Returns: The outcome of the program, and the count of each call.
  /// - Throws: An error of Foundation if the program cannot be started.
  public func run(
    _ program: String, _ arguments: [String] = [], in folder: URL? = nil, isBroken: Bool = false,
    environment: [String: String] = [:]
  ) throws -> (outcome: Outcome, counts: [String: Int]) {
    let file = try self.folder.write(Data(count: Self.fileSize), as: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    var variables = ["LD_PRELOAD": library, "LIBELF_COUNTS": file.path]
    if isBroken { variables["BREAK"] = "1" }
    let outcome = try Command.run(
      program, arguments, in: folder, environment: environment.merging(variables) { $1 })
    return (outcome, Self.counts(in: try Data(contentsOf: file)))
  }

  /// Returns every call that the library knows, and its count.
  private static func counts(in data: Data) -> [String: Int] {
    var counts: [String: Int] = [:]
    for start in stride(from: 0, to: fileSize, by: rowSize) where data[start] != 0 {
      let row = data[start..<start + rowSize]
      let count = row.suffix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
      counts[String(decoding: row.prefix { $0 != 0 }, as: UTF8.self)] = count
    }
    return counts
  }
}
