import Foundation

/// Files that the tests compile once per run, from sources that stand in the tests.
///
/// Everything is built into one temporary directory, removed when the process exits; nothing that
/// a compiler made is kept in the repository.
enum Fixture {
  /// Why a fixture could not be built.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// The directory that the fixtures stand in.
  static let directory: URL = {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("beehive-\(UUID().uuidString)", isDirectory: true)
    try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: Fixture.directory) }
    return directory
  }()

  /// The path of a tool in PATH, or nil where it is not installed.
  static func tool(_ name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a tool to its end and answers what it wrote to standard output.
  @discardableResult
  static func run(_ name: String, _ arguments: [String]) throws -> String {
    guard let path = name.hasPrefix("/") ? name : tool(name) else {
      throw Failure(description: "\(name) is not in PATH")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    let output = directory.appendingPathComponent("output-\(UUID().uuidString)")
    let errors = directory.appendingPathComponent("errors-\(UUID().uuidString)")
    for file in [output, errors] {
      _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    }
    defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let text = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
      throw Failure(
        description:
          "\(name) \(arguments.joined(separator: " ")): \(process.terminationStatus)\n\(text)")
    }
    return String(decoding: try Data(contentsOf: output), as: UTF8.self)
  }

  /// Writes a file into the directory and answers its path.
  static func write(_ bytes: some Sequence<UInt8>, as name: String) throws -> String {
    let url = directory.appendingPathComponent(name)
    try Data(bytes).write(to: url)
    return url.path
  }

  /// Compiles `source` with a compiler and the given arguments; answers the path of the result.
  ///
  /// A suffix other than `.c` makes it another language: `.s` is assembler.
  static func compile(
    _ source: String, suffix: String = "c", as name: String, with compiler: String = "gcc",
    _ arguments: [String]
  ) throws -> String {
    let input = try write(Array(source.utf8), as: "\(name).\(suffix)")
    let output = directory.appendingPathComponent(name).path
    try run(compiler, [input, "-o", output] + arguments)
    return output
  }

  /// The bytes of a file.
  static func bytes(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// The paths of those of the system's libraries that are installed; the C library always is.
  static func systemLibraries(_ names: [String]) -> [String] {
    let directories = [
      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
    ]
    return names.compactMap { name in
      directories.map { "\($0)/\(name)" }.first { FileManager.default.fileExists(atPath: $0) }
    }
  }

  /// The path of a file of that name in the directory.
  static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
}
