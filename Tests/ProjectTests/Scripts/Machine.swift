import Foundation
import TestSupport
import Testing

/// A machine that may lack something: a copy of the scripts, and a folder of programs instead of `PATH`. The scripts'
/// own utilities are there. Swift, compilers and the like are stand-ins that do nothing and succeed.
struct Machine {
  private let folder: Folder

  init(without missing: String...) throws {
    folder = try Folder()
    for name in ["bin", "Examples"] {
      try folder.makeFolder(name)
    }
    // Foundation would try to keep the owner.
    try Command.output("cp", ["-R", Repository.place("Scripts").path, folder.path])
    let utilities = [
      "awk", "bash", "cat", "chmod", "comm", "cp", "date", "dirname", "env", "find", "grep", "head",
      "install", "ln", "mkdir", "mktemp", "mv", "realpath", "rm", "rmdir", "sed", "sh", "sleep",
      "sort", "stat", "tail", "tar", "timeout", "touch", "tr", "true", "wc",
    ]
    for name in utilities {
      let path = try #require(Needs.path(of: name), "\(name) is not installed")
      try makeLink(at: folder.place("bin/\(name)").path, to: path)
    }
    if !missing.contains("swift") { try install("swift", #"echo "Swift version 6.3.1""#) }
    for name in ["pkg-config", "cc", "readelf", "git"] where !missing.contains(name) {
      try install(name)
    }
  }

  /// Puts a shell program there, instead of another of that name.
  func install(_ name: String, _ script: String = "exit 0") throws {
    try write("#!/bin/sh\n\(script)\n", as: "bin/\(name)", isProgram: true)
  }

  /// Replaces a script.
  func replace(_ script: String, _ text: String) throws {
    try write("#!/bin/sh\n\(text)\n", as: "Scripts/\(script)", isProgram: true)
  }

  /// Copies a file or folder of the package.
  func copy(_ path: String) throws {
    let place = folder.place(path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try Command.output("cp", ["-R", Repository.place(path).path, place.path])
  }

  /// Returns the location of a file in the copy of the package.
  func place(_ path: String) -> URL { folder.place(path) }

  /// Writes a file in the copy of the package.
  func write(_ text: String, as path: String, isProgram: Bool = false) throws {
    let file = try folder.write(text, as: path)
    guard isProgram else { return }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
  }

  /// Runs a script of the machine, from another folder.
  func run(
    _ script: String, _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> Outcome {
    try Command.run(
      folder.place("Scripts/\(script)").path, arguments, in: URL(fileURLWithPath: "/"),
      environment: environment.merging(["PATH": folder.place("bin").path]) { $1 })
  }
}
