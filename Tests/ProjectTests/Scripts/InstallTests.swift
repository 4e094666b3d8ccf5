import Foundation
import TestSupport
import Testing

/// The build products are stand-ins. Other tests check the real ones after installation.
@Suite("Scripts/install puts files into a prefix, and takes them away again")
struct InstallTests {
  /// A machine whose Swift has already built everything, and a prefix on it.
  private struct Site {
    let machine: Machine
    let prefix: URL

    init(version: String = "1.2.3", tool: String = "echo 'OVERVIEW: what it does'") throws {
      machine = try Machine()
      prefix = try Folder().url
      for path in ["CSupport", "LICENSE.txt", "NOTICE"] { try machine.copy(path) }
      try machine.write("", as: "CHANGELOG.md")
      try machine.write(
        "  static let version = \"\(version)\"\n",
        as: "Sources/section-dump/Commands/SectionDump.swift")
      try machine.write("the library", as: "built/libBeeHive.so")
      try machine.write("#!/bin/sh\n\(tool)\n", as: "built/section-dump", isProgram: true)
      try machine.install(
        "swift",
        """
        case "$*" in
          --version) echo "Swift version 6.3.1" ;;
          *--show-bin-path) echo '\(machine.place("built").path)' ;;
        esac
        """)
      try machine.install("strip", #"cp "$3" "$2""#)
    }

    @discardableResult
    func install(_ arguments: String..., environment: [String: String] = [:]) throws -> Outcome {
      try machine.run("install", ["--prefix", prefix.path] + arguments, environment: environment)
    }

    /// Returns the files and links in the prefix.
    func files() throws -> Set<String> {
      let found = try Command.output("find", [".", "!", "-type", "d"], in: prefix)
      return Set(found.split(separator: "\n").map { String($0.dropFirst(2)) })
    }

    func text(_ path: String) throws -> String {
      try String(contentsOf: prefix.appending(path: path), encoding: .utf8)
    }
  }

  @Test("--only installs and removes one part, and leaves the other")
  func only() throws {
    let site = try Site()
    try site.install("--only", "tool").check()
    let tool = try site.files()
    try site.install("--only", "library").check()
    let both = try site.files()
    for part in ["section-dump", "libbeehive"] {
      for name in ["LICENSE.txt", "NOTICE"] { #expect(both.contains("share/doc/\(part)/\(name)")) }
    }

    try site.install("--uninstall", "--only", "library").check()
    #expect(try site.files() == tool)
    let again = try site.install("--uninstall", "--only", "library")
    #expect(again.status == 66 && again.errors.hasSuffix("no library\n"), "\(again)")
    try site.install("--only", "library").check()
    try site.install("--uninstall").check()
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.prefix.path).isEmpty)
  }

  /// The site with the installed tool of this checkout.
  private static let tool = Result {
    let site = try Site(tool: "exec '\(Repository.sectionDump)' \"$@\"")
    try site.install("--only", "tool").check()
    return site.prefix
  }

  /// The end of a command line, and its completion.
  private static let completions = [
    ("--fo", "--format"), ("--format js", "json"), ("lib.so --req", "--require"), ("ver", "verify"),
    ("verify --stri", "--strict"),
  ]

  @Test("A line without a command is completed as one of records, in bash", arguments: completions)
  func bash(line: String, end: String) throws {
    let script = """
      source "$0"; COMP_WORDS=(section-dump \(line)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _section-dump section-dump "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"; echo "${COMPREPLY[*]}"
      """
    let place = "share/bash-completion/completions/section-dump"
    let file = try Self.tool.get().appending(path: place).path
    #expect(try Command.output("bash", ["-c", script, file]) == "\(end)\n")
  }

  @Test("and in fish", .needs("fish"), arguments: completions)
  func fish(line: String, end: String) throws {
    let place = "share/fish/vendor_completions.d/section-dump.fish"
    let file = try Self.tool.get().appending(path: place).path
    let script = "source '\(file)'; complete -C 'section-dump \(line)'"
    #expect(try Command.output("fish", ["-N", "-c", script]).prefix { $0 != "\t" } == end)
  }

  @Test("installs and removes below DESTDIR too, and nothing else")
  func staged() throws {
    let (site, stage) = (try Site(), try Folder())
    let other = try stage.write("", as: "\(site.prefix.path.dropFirst())/bin/other").path
    let environment = ["DESTDIR": stage.path]
    func files() throws -> [Substring] {
      try Command.output("find", [stage.path, "!", "-type", "d"]).split(separator: "\n")
    }
    try site.install(environment: environment).check()
    #expect(try files().count > 10 && site.files().isEmpty)
    try site.install("--uninstall", environment: environment).check()
    #expect(try files() == [other[...]])
  }

  @Test(
    "what stops it midway can be removed",
    arguments: ["share/man", "lib/libBeeHive.so", "bin/section-dump"])
  func midway(place: String) throws {
    let site = try Site()
    let isFolder = place != "share/man"
    let kept = isFolder ? place + "/kept" : place
    try FileManager.default.createDirectory(
      at: site.prefix.appending(path: kept).deletingLastPathComponent(),
      withIntermediateDirectories: true)
    try "".write(to: site.prefix.appending(path: kept), atomically: true, encoding: .utf8)
    try site.install().expect(1)
    #expect(try site.files().count > 1)
    try site.install("--uninstall").check()
    #expect(try site.files() == [kept])
  }

  @Test("an upgrade removes what the new version does not have, also from another --libdir")
  func upgrade() throws {
    let site = try Site()
    try site.machine.write("", as: "CSupport/CBeeHive/include/beehive/old.h")
    try site.install("--libdir", "lib/x86").check()
    #expect(try site.files().isSuperset(of: ["include/beehive/old.h", "lib/x86/libBeeHive.so.0"]))
    try FileManager.default.removeItem(
      at: site.machine.place("CSupport/CBeeHive/include/beehive/old.h"))
    try site.install().check()
    let files = try site.files()
    #expect(files.contains("lib/libBeeHive.so.0"))
    #expect(!files.contains { $0.hasPrefix("lib/x86") || $0.hasSuffix("old.h") }, "\(files)")
  }

  @Test(
    "a snapshot comes before its release for pkg-config, and has its number in CMake",
    arguments: [("1.2.3", "1.2.3"), ("1.2.3-dev", "1.2.3~dev")])
  func version(told: String, package: String) throws {
    let site = try Site(version: told)
    try site.install("--only", "library").check()
    #expect(try site.text("lib/pkgconfig/beehive.pc").contains("\nVersion: \(package)\n"))
    let cmake = try site.text("lib/cmake/BeeHive/BeeHiveConfigVersion.cmake")
    #expect(cmake.hasPrefix("set(PACKAGE_VERSION 1.2.3)\n"))
  }

  @Test("manual pages have the date of the sources, or the one that the environment names")
  func date() throws {
    let site = try Site()
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 86_400)],
      ofItemAtPath: site.machine.place("CHANGELOG.md").path)
    for (environment, date) in [
      ([:], "1970-01-02"), (["SOURCE_DATE_EPOCH": "172800"], "1970-01-03"),
    ] {
      try site.install(environment: environment).check()
      for page in ["man1/section-dump.1", "man3/beehive.3"] {
        #expect(try site.text("share/man/\(page)").hasPrefix(".Dd \(date)\n"))
      }
    }
  }

  @Test("manual pages have no mistakes", .needs("mandoc"))
  func manual() throws {
    let site = try Site(tool: "exec '\(Repository.sectionDump)' \"$@\"")
    try site.install().check()
    let pages = site.prefix.appending(path: "share/man").path
    for page in ["man1/section-dump.1", "man3/beehive.3"] {
      let found = try Command.run("mandoc", ["-T", "lint", "-W", "warning", "\(pages)/\(page)"])
      #expect(found.lines.filter { !$0.hasSuffix("new sentence, new line") } == [])
    }
    // An example stays as it was written.
    #expect(
      try Command.output("mandoc", ["-T", "ascii", "\(pages)/man3/beehive.3"]).contains(
        "\n       beehive_options options = BEEHIVE_OPTIONS;\n"))
    let tool = try site.text("share/man/man1/section-dump.1").split(separator: "\n")
    func headings(_ start: String) -> [String] {
      tool.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }
    #expect(
      headings(".Sh ") == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "OPTIONS",
        "SUBCOMMANDS", "EXAMPLES", "SEE ALSO",
      ])
    // The tool accepts the words of the examples, though the files do not exist.
    let examples = headings(".Dl section-dump ")
    #expect(examples.count == 5)
    for example in examples {
      let words = example.split(separator: " ").map(String.init)
      #expect(try Command.run(Repository.sectionDump, words).status != 64, "\(example)")
    }
    #expect(headings(".Ss ").count > 10)
  }

  @Test("who installs may keep files to himself, and everybody can read what was installed")
  func mask() throws {
    let site = try Site()
    let outcome = try Command.run(
      "sh",
      [
        "-c", "umask 077; exec \"$0\" \"$@\"", site.machine.place("Scripts/install").path,
        "--prefix", site.prefix.path + "/new",
      ],
      environment: ["PATH": site.machine.place("bin").path])
    try outcome.check()
    #expect(try Command.output("find", [site.prefix.path + "/new", "!", "-perm", "-444"]) == "")
  }

  @Test(
    "refuses what it could not do",
    arguments: [
      (["--prefix", "--uninstall"], "--prefix needs a value"),
      (["--prefix", "/tmp/it's"], "pkg-config cannot read a prefix with quotes"),
      (["--libdir", "lib&|"], "--libdir takes letters"),
      ([], "HOME names no folder to install into"),
      (["PREFIX"], "it does not know PREFIX"), (["--prefix"], "--prefix needs a value"),
      (["--only", "all"], "--only takes tool or library, not all"),
      (["--libdir", "../lib"], "--libdir takes a folder of PREFIX, not ../lib"),
    ])
  func refuses(arguments: [String], reason: String) throws {
    try Site().machine.run("install", arguments, environment: ["HOME": ""])
      .expect(64, errors: "Scripts/install: \(reason)")
  }
}
