import Foundation

/// The compiler with the macros loaded, as the package manager calls it for a client of the package.
struct SwiftCompiler {
  /// What the client's own package switches on.
  enum Mode: String, CaseIterable, CustomStringConvertible, Sendable {
    case debug
    case release
    case strict
    case swift5
    case addressSanitizer

    var description: String { rawValue }

    var arguments: [String] {
      switch self {
      case .debug: ["-swift-version", "6", "-Onone", "-g", "-enable-testing"]
      case .release:
        ["-swift-version", "6", "-O", "-wmo", "-g", "-Xlinker", "--gc-sections"]
      case .strict:
        [
          "-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors",
          "-enable-upcoming-feature", "ExistentialAny",
          "-enable-upcoming-feature", "InternalImportsByDefault",
          "-enable-upcoming-feature", "MemberImportVisibility",
        ]
      case .swift5: ["-swift-version", "5", "-warnings-as-errors"]
      case .addressSanitizer: ["-swift-version", "6", "-sanitize=address"]
      }
    }
  }

  /// Where the package manager puts what it builds: the folder of this test.
  static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// The root of `swift-beehive`.
  static let package = URL(filePath: #filePath).appending(path: "../../../../..").standardized

  /// A folder for this run, removed when the process ends.
  static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "beehive-annotations-\(UUID().uuidString)")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: SwiftCompiler.folder) }
    return folder
  }()

  /// What a process said, and how it ended.
  struct Outcome {
    var status: Int32
    var output: String
    var errors: String
  }

  /// A tool that did not do what a test needs from it.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Runs a program to its end.
  static func run(_ arguments: [String]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let texts = [0, 1].map { _ in folder.appending(path: "text-\(UUID().uuidString)") }
    for text in texts { _ = FileManager.default.createFile(atPath: text.path(), contents: nil) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: texts[0])
    process.standardError = try FileHandle(forWritingTo: texts[1])
    try process.run()
    process.waitUntilExit()
    let read = try texts.map { try String(contentsOf: $0, encoding: .utf8) }
    return Outcome(status: process.terminationStatus, output: read[0], errors: read[1])
  }

  /// Compiles one file of the module `Shop`; `arguments` say into what.
  static func compile(_ source: String, _ mode: Mode, _ arguments: [String]) throws -> Outcome {
    let file = folder.appending(path: "\(UUID().uuidString)/Shop.swift")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try source.write(to: file, atomically: true, encoding: .utf8)
    return try run(
      [
        "swiftc", "-module-name", "Shop", "-parse-as-library", "-diagnostic-style", "llvm",
        "-load-plugin-executable",
        "\(products.path())BeeHiveAnnotationsPlugin-tool#BeeHiveAnnotationsPlugin",
        "-I", products.appending(path: "Modules").path(),
        "-I", package.appending(path: "CSupport/CBeeHive/include").path(),
        "-I", package.appending(path: "CSupport/CElf").path(),
      ] + (try moduleMaps()).flatMap { ["-Xcc", "-fmodule-map-file=\($0.path())"] }
        + mode.arguments + arguments + [file.path()])
  }

  /// Compiles and links a plugin: a shared library with what the package manager links into it.
  static func plugin(_ source: String, _ mode: Mode) throws -> String {
    let library = folder.appending(path: "\(UUID().uuidString).so").path()
    let outcome = try compile(
      source, mode,
      ["-emit-library", "-o", library, "-L", products.path(), "-lBeeHive"]
        + (try objects(of: "BeeHiveAnnotations")) + (try objects(of: "CBeeHiveAnchor")))
    guard outcome.status == 0 else { throw Failure(description: outcome.errors) }
    return library
  }

  /// Compiles and links a shared library of C that includes our header.
  static func library(ofC source: String) throws -> String {
    let library = folder.appending(path: "c-\(UUID().uuidString).so").path()
    let file = folder.appending(path: "c-\(UUID().uuidString).c")
    try source.write(to: file, atomically: true, encoding: .utf8)
    let include = package.appending(path: "CSupport/CBeeHive/include").path()
    let outcome = try run(["cc", "-shared", "-fPIC", "-I", include, file.path(), "-o", library])
    guard outcome.status == 0 else { throw Failure(description: outcome.errors) }
    return library
  }

  /// Compiles and links a program that uses the runtime.
  static func program(_ source: String) throws -> String {
    let program = folder.appending(path: UUID().uuidString).path()
    let outcome = try compile(
      source, .debug,
      [
        "-emit-executable", "-o", program, "-L", products.path(), "-lBeeHive", "-Xlinker",
        "-rpath",
        "-Xlinker", products.path(),
      ])
    guard outcome.status == 0 else { throw Failure(description: outcome.errors) }
    return program
  }

  private static func objects(of target: String) throws -> [String] {
    try contents(of: "\(target).build").filter { $0.pathExtension == "o" }.map { $0.path() }
  }

  private static func moduleMaps() throws -> [URL] {
    try contents(of: "").filter {
      $0.lastPathComponent.hasPrefix("C") && $0.pathExtension == "build"
        && !$0.lastPathComponent.hasSuffix("-tool.build")
    }
    .map { $0.appending(path: "module.modulemap") }
    .filter { FileManager.default.fileExists(atPath: $0.path()) }
  }

  private static func contents(of folder: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: products.appending(path: folder), includingPropertiesForKeys: nil)
  }
}
