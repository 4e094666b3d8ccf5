import Foundation
import TestSupport
import Testing

@Suite("Scripts/setup names what a machine lacks, or installs it")
struct SetupTests {
  /// The status for something that is needed and not available.
  private static let unavailable: Int32 = 69

  @Test("silent if nothing is missing") func nothingMissing() throws {
    let outcome = try Machine().run("setup").expect(0)
    #expect(outcome.output + outcome.errors == "")
  }

  /// The message about a missing thing, and the unusual parts of the machine and the arguments.
  struct Lack: Sendable, CustomTestStringConvertible {
    var words: String
    var missing: String?
    var stand: (program: String, script: String)?
    var arguments: [String]
    var testDescription: String { words }

    init(
      _ words: String, without missing: String? = nil, stand: (String, String)? = nil,
      _ arguments: String...
    ) {
      (self.words, self.missing, self.stand, self.arguments) = (words, missing, stand, arguments)
    }
  }

  private static let names = "(Debian's names; apt-get install them as root)"

  static let lacks = [
    Lack("pkg-config \(names)", without: "pkg-config"), Lack("gcc \(names)", without: "cc"),
    Lack("binutils \(names)", without: "readelf"), Lack("git \(names)", without: "git"),
    Lack("missing: libelf-dev ", stand: ("pkg-config", "exit 1")), Lack("mold ", "mold"),
    Lack("gdb ", "gcore"), Lack("valgrind ", "all"),
    Lack("missing: Swift 6.3", stand: ("swift", #"echo "Swift version 6.1""#)),
    Lack("swift is of an unknown version", stand: ("swift", "exit 0")),
    Lack("https://www.swift.org/install", without: "swift"),
  ]

  @Test("what is missing is named, as Debian names it", arguments: lacks)
  func missing(lack: Lack) throws {
    let machine = try Machine(without: lack.missing ?? "")
    if let (program, script) = lack.stand { try machine.install(program, script) }
    try machine.run("setup", lack.arguments).expect(Self.unavailable, errors: lack.words)
  }

  @Test("every script that builds begins with it", arguments: ["demo", "install", "test"])
  func scripts(name: String) throws {
    try Machine(without: "readelf").run(name, name == "install" ? ["--prefix", "somewhere"] : [])
      .expect(Self.unavailable, errors: "missing: binutils ")
  }

  @Test("a program that it does not know is refused, before anything is installed")
  func unknown() throws {
    let machine = try Machine(without: "readelf")
    try machine.install("sudo", "exit 99")
    let outcome = try machine.run("setup", ["mold", "nonsense-program"]).expect(
      64, errors: "it knows no program nonsense-program; ")
    #expect(outcome.output == "")
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
    try machine.run("setup").expect(
      Self.unavailable, errors: "missing: binutils (apt-get could not install them)")
  }

  @Test("the libraries that Swift cannot start without are installed")
  func brokenSwift() throws {
    let machine = try Machine()
    try machine.install("swift", "echo swift: no libcurl.so.4 >&2; exit 127")
    try machine.run("setup").expect(
      Self.unavailable, errors: "swift: no libcurl.so.4\nmissing: libcurl4 ")
    try machine.install("sudo", #"[ "$1" != -n ] || shift; exec "$@""#)
    try machine.install(
      "apt-get",
      """
      case "$*" in install*libcurl4*) ;; *) exit 0 ;; esac
      echo 'echo "Swift version 6.3.1"' > "$(dirname "$0")/swift"
      """)
    #expect(try machine.run("setup").status == 0)
  }
}
