import Foundation
import TestSupport
import Testing

/// A machine that may lack something: a copy of the scripts, and a folder of programs that takes the
/// place of `PATH`. What the scripts themselves call is there; Swift, compilers and the like are
/// stand-ins that do nothing and succeed.
private struct Machine {
  private let folder: Folder

  init(without missing: String...) throws {
    folder = try Folder()
    for name in ["bin", "Examples"] {
      try FileManager.default.createDirectory(
        at: folder.place(name), withIntermediateDirectories: true)
    }
    // Foundation would try to keep the owner.
    try Command.output("cp", ["-R", Repository.place("Scripts").path, folder.path])
    let utilities = [
      "awk", "bash", "cat", "chmod", "date", "dirname", "env", "find", "grep", "head", "mkdir",
      "mktemp", "rm", "sed", "sh", "sleep", "sort", "tail", "timeout", "tr", "true", "wc",
    ]
    for name in utilities {
      let path = try #require(Needs.path(of: name), "\(name) is not installed")
      try FileManager.default.createSymbolicLink(
        atPath: folder.place("bin/\(name)").path, withDestinationPath: path)
    }
    try install("swift", #"echo "Swift version 6.3.1""#)
    for name in ["pkg-config", "cc", "readelf"] where !missing.contains(name) {
      try install(name)
    }
  }

  /// Puts a program there, in the language of the shell, or another in its place.
  func install(_ name: String, _ script: String = "exit 0") throws {
    let file = try folder.write("#!/bin/sh\n\(script)\n", as: "bin/\(name)")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
  }

  /// Takes a program away.
  func remove(_ name: String) throws {
    try FileManager.default.removeItem(at: folder.place("bin/\(name)"))
  }

  /// Runs a script there, from another folder.
  func run(_ script: String, _ arguments: [String] = []) throws -> Outcome {
    try Command.run(
      folder.place("Scripts/\(script)").path, arguments, in: URL(fileURLWithPath: "/"),
      environment: ["PATH": folder.place("bin").path])
  }
}

@Suite("Scripts/setup names what a machine lacks, or installs it")
struct SetupTests {
  /// Status 69 says that something which is needed is not available.
  private func expect(_ outcome: Outcome, lacks words: String) {
    #expect(outcome.status == 69, "\(outcome)")
    #expect(outcome.errors.contains(words), "\(outcome)")
  }

  @Test("silent if nothing is missing") func nothingMissing() throws {
    let outcome = try Machine().run("setup")
    #expect(outcome.status == 0)
    #expect(outcome.output + outcome.errors == "")
  }

  @Test(
    "what is missing is named as Debian names it",
    arguments: [("pkg-config", "pkg-config"), ("cc", "gcc"), ("readelf", "binutils")])
  func missing(program: String, package: String) throws {
    let outcome = try Machine(without: program).run("setup")
    expect(outcome, lacks: "missing: ")
    expect(outcome, lacks: "\(package) (Debian's names; apt-get install them as root)")
  }

  @Test("a library is asked for from pkg-config") func missingLibrary() throws {
    let machine = try Machine()
    try machine.install("pkg-config", "exit 1")
    expect(try machine.run("setup"), lacks: "missing: libelf-dev ")
  }

  @Test("every script that builds begins with it", arguments: ["demo", "install", "test"])
  func scripts(name: String) throws {
    let outcome = try Machine(without: "readelf").run(name, name == "install" ? ["prefix"] : [])
    expect(outcome, lacks: "missing: binutils ")
  }

  @Test(
    "further programs are asked for by name",
    arguments: [("mold", "mold"), ("gcore", "gdb"), ("all", "valgrind")])
  func further(program: String, package: String) throws {
    let outcome = try Machine().run("setup", [program])
    expect(outcome, lacks: "missing: ")
    expect(outcome, lacks: "\(package) ")
  }

  @Test("apt-get installs what is missing") func installs() throws {
    let machine = try Machine(without: "readelf")
    try machine.install("sudo", #"[ "$1" != -n ] || shift; exec "$@""#)
    try machine.install(
      "apt-get",
      """
      case "$*" in install*binutils) ;; *) exit 0 ;; esac
      cd "$(dirname "$0")" && printf '#!/bin/sh\\n' > readelf && chmod +x readelf
      """)
    #expect(try machine.run("setup").status == 0)
  }

  @Test("what apt-get cannot install is named") func cannotInstall() throws {
    let machine = try Machine(without: "readelf")
    try machine.install("sudo")
    try machine.install("apt-get")
    expect(try machine.run("setup"), lacks: "missing: binutils (apt-get could not install them)")
  }

  @Test("an old Swift is too old") func oldSwift() throws {
    let machine = try Machine()
    try machine.install("swift", #"echo "Swift version 6.1""#)
    expect(try machine.run("setup"), lacks: "missing: Swift 6.3")
  }

  @Test("without Swift it says where to get it") func noSwift() throws {
    let machine = try Machine()
    try machine.remove("swift")
    expect(try machine.run("setup"), lacks: "https://www.swift.org/install")
  }
}
