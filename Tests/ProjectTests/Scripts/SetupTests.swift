import Foundation
import TestSupport
import Testing

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
    arguments: [
      ("pkg-config", "pkg-config"), ("cc", "gcc"), ("readelf", "binutils"),
      ("git", "git"),
    ])
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
    let outcome = try Machine(without: "readelf").run(
      name, name == "install" ? ["--prefix", "somewhere"] : [])
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

  @Test("a program that it does not know is refused, before anything is installed")
  func unknown() throws {
    let machine = try Machine(without: "readelf")
    try machine.install("sudo", "exit 99")
    let outcome = try machine.run("setup", ["mold", "nonsense-program"])
    #expect(outcome.status == 64, "\(outcome)")
    #expect(outcome.errors.contains("it knows no program nonsense-program; "), "\(outcome)")
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
    expect(try machine.run("setup"), lacks: "missing: binutils (apt-get could not install them)")
  }

  @Test("an old Swift is too old") func oldSwift() throws {
    let machine = try Machine()
    try machine.install("swift", #"echo "Swift version 6.1""#)
    expect(try machine.run("setup"), lacks: "missing: Swift 6.3")
  }

  @Test("the libraries that Swift cannot start without are installed")
  func brokenSwift() throws {
    let machine = try Machine()
    try machine.install("swift", "echo swift: no libcurl.so.4 >&2; exit 127")
    expect(try machine.run("setup"), lacks: "swift: no libcurl.so.4\nmissing: libcurl4 ")
    try machine.install("sudo", #"[ "$1" != -n ] || shift; exec "$@""#)
    try machine.install(
      "apt-get",
      """
      case "$*" in install*libcurl4*) ;; *) exit 0 ;; esac
      echo 'echo "Swift version 6.3.1"' > "$(dirname "$0")/swift"
      """)
    #expect(try machine.run("setup").status == 0)
  }

  @Test("a Swift that does not say its version is refused") func unknownSwift() throws {
    let machine = try Machine()
    try machine.install("swift")
    expect(try machine.run("setup"), lacks: "swift is of an unknown version")
  }

  @Test("without Swift it says where to get it") func noSwift() throws {
    let machine = try Machine()
    try machine.remove("swift")
    expect(try machine.run("setup"), lacks: "https://www.swift.org/install")
  }
}
