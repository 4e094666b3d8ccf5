import Foundation
import TestSupport
import Testing

@Suite("Scripts/release", .needs("git"))
struct ReleaseTests {
  static let heading = "## [Unreleased]\n\n## [1.2.3] - 2026-11-30\n"

  /// A checkout whose only commit has passed everything. It has the scripts, and the files that they read.
  private struct Checkout {
    let folder: Folder

    init(
      version: String = "1.2.3",
      changelog: String = "\(ReleaseTests.heading)### Added\n- New.\n\n[k]: https://k.example"
    ) throws {
      folder = try Folder()
      // Foundation would try to keep the owner.
      try Command.output("cp", ["-R", Repository.place("Scripts").path, folder.path])
      for name in ["Package.swift", ".gitignore"] {
        try folder.write(Repository.text(name), as: name)
      }
      try folder.write("", as: "Examples/README.md")
      try folder.write(changelog, as: "CHANGELOG.md")
      try folder.write(
        "  static let version = \"\(version)\"\n",
        as: "Sources/section-dump/Commands/SectionDump.swift")
      try folder.write(
        """
        {"pins" : [
            {
              "identity" : "swift-argument-parser",
              "location" : "https://github.com/apple/swift-argument-parser",
              "state" : {
                "version" : "1.8.2"
              }
            },
            {
              "identity" : "yams",
              "location" : "https://github.com/jpsim/Yams.git",
              "state" : {
                "version" : "6.2.2"
              }
            }
        ]}
        """, as: "Package.resolved")
      try git("init", "--quiet")
      try git("add", "--all")
      try git("commit", "--quiet", "--message", "All")
      let commit = try git("rev-parse", "HEAD").trimmingCharacters(in: .newlines)
      let steps = try Command.output(folder.place("Scripts/test").path, ["--unproved"])
      try folder.write(
        steps.split(separator: "\n").map { "\($0)\t\(commit)\t1 s\n" }.joined(),
        as: ".build/passed")
    }

    @discardableResult
    func git(_ arguments: String...) throws -> String {
      let author = ["-c", "user.name=Release", "-c", "user.email=release@localhost"]
      return try Command.output(
        "git", author + arguments, in: folder.url, environment: Self.environment)
    }

    /// The user's own setup, such as signatures and hooks, has no effect.
    static let environment = [
      "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
      "GIT_COMMITTER_NAME": "Release", "GIT_COMMITTER_EMAIL": "release@localhost",
    ]

    func release(_ arguments: String...) throws -> Outcome {
      try Command.run(
        folder.place("Scripts/release").path, arguments, environment: Self.environment)
    }
  }

  private struct Bill: Decodable {
    struct Component: Decodable {
      var name: String
      var version: String
      var scope: String
    }
    var bomFormat: String
    var components: [Component]
  }

  @Test(
    "says what it would tag, and with --tag tags it; archive, bill of materials and checksums are there"
  )
  func release() throws {
    let checkout = try Checkout()
    try checkout.release("1.2.3").expect(0, output: "nothing was tagged")
    #expect(try checkout.git("tag") == "")

    let folder = checkout.folder.place(".build/release-1.2.3")
    try Command.output("sha256sum", ["--check", "--strict", "SHA256SUMS"], in: folder)
    let text = try Data(contentsOf: folder.appending(path: "swift-beehive-1.2.3.cdx.json"))
    let bill = try JSONDecoder().decode(Bill.self, from: text)
    #expect(bill.bomFormat == "CycloneDX")
    #expect(
      bill.components.map { "\($0.name) \($0.scope)" } == [
        "swift-argument-parser required", "yams excluded", "swift-syntax optional",
        "libelf required", "zlib required", "swift required",
      ])
    #expect(bill.components.map(\.version).prefix(3) == ["1.8.2", "6.2.2", "600.0.1"])
    #expect(bill.components.allSatisfy { !$0.version.isEmpty })
    let files = try Command.output("tar", ["-tf", "swift-beehive-1.2.3.tar.gz"], in: folder)
    #expect(files.contains("swift-beehive-1.2.3/CHANGELOG.md\n"))

    try checkout.release("1.2.3", "--tag").expect(0)
    let tag = try checkout.git("tag", "--list", "--format=%(refname:short): %(contents)")
    #expect(tag == "1.2.3: swift-beehive 1.2.3\n\n### Added\n- New.\n")
    try checkout.release("1.2.3").expect(65, errors: "there is a tag 1.2.3 already")
  }

  @Test("refuses a checkout with changes, or one in which a step has not passed")
  func refusesCheckouts() throws {
    let checkout = try Checkout()
    let passed = try String(contentsOf: checkout.folder.place(".build/passed"), encoding: .utf8)
    let others = passed.split(separator: "\n").filter { !$0.hasPrefix("fuzz\t") }
    try checkout.folder.write(others.joined(separator: "\n") + "\n", as: ".build/passed")
    try checkout.release("1.2.3").expect(65, errors: "run Scripts/test --all: fuzz\n")

    try checkout.folder.write("", as: "forgotten.txt")
    try checkout.release("1.2.3").expect(65, errors: "?? forgotten.txt\n")
  }

  @Test(
    "refuses a version that the changelog or the tool does not name",
    arguments: [
      ("1.2.3", "## [Unreleased]\n- New.\n## [1.2.3]\n- No date.\n", "CHANGELOG.md has nothing"),
      ("1.2.3", heading + "\n## [1.2.2] - 2026-10-01\n- Old.\n", "nothing under ## [1.2.3] - "),
      ("1.2.3-dev", heading + "- A beginning.\n", "section-dump calls itself 1.2.3-dev"),
    ])
  func refusesVersions(version: String, changelog: String, reason: String) throws {
    try Checkout(version: version, changelog: changelog).release("1.2.3").expect(65, errors: reason)
  }

  @Test("refuses what is no version", arguments: [["1.2"], ["v1.2.3"], [], ["1.2.3", "--push"]])
  func refusesArguments(arguments: [String]) throws {
    try Command.run(Repository.place("Scripts/release").path, arguments).expect(64)
  }
}
