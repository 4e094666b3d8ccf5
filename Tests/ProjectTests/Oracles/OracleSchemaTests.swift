import Foundation
import TestSupport
import Testing

/// The third-party schemas of formats that section-dump writes.
@Suite("Schemas of SARIF, GitHub and GitLab", .serialized, .full, .needs("python3"))
struct OracleSchemaTests {
  /// The archive with the schema of SARIF 2.1.0, and its hash.
  private static let archive = (
    name: "sarif-om", version: "1.0.4",
    hash: "cd5f416b3083e00d402a92e449a7ff67af46f11241073eea0461802a3b5aef98"
  )

  /// Returns the schema of SARIF. Skips the running case if it cannot be fetched.
  private func sarif(_ python: Python) throws -> String {
    let folder = try Scratch.folder("oracles/sarif")
    let schema = "sarif_om-1.0.4/sarif-2.1.0-rtm.4.json"
    let place = folder.appendingPathComponent(schema).path
    if FileManager.default.fileExists(atPath: place) { return place }
    let (name, version, hash) = Self.archive
    let requirement = folder.appendingPathComponent("requirement")
    try "\(name)==\(version) --hash=sha256:\(hash)\n"
      .write(to: requirement, atomically: true, encoding: .utf8)
    do {
      try python.pip(
        [
          "download", "--no-deps", "--no-binary=:all:", "--require-hashes", "-d", folder.path,
          "-r", requirement.path,
        ], for: name)
    } catch let missing as Missing { try Test.cancel("\(missing.reason)") }
    let archive = folder.appendingPathComponent("sarif_om-1.0.4.tar.gz").path
    try Command.run("tar", ["-C", folder.path, "-xzf", archive, schema]).expect(0)
    return place
  }

  @Test("each log of verify, doctor and why is SARIF")
  func logs() throws {
    let python = try Python.needed()
    let schema = try sarif(python)
    let folder = try Folder()
    for name in ["shop", "a b, 100%"] {
      try TestSupport.Compiler.library(
        TestSupport.Compiler.module("shop", "BEEHIVE_REQUIRES(\"log\")"), as: "\(name).so",
        in: folder.url, ["-Wl,-soname,\(name.count)"])
    }
    let commands = [
      ["verify", "-r", ".", "/missing"], ["verify", "/bin/true"], ["why", "module:shop", "."],
      ["doctor", ".", "--host", "/bin/true"],
    ]
    let logs = try commands.enumerated().map { position, words in
      let outcome = try Command.run(
        Repository.sectionDump, words + ["--format", "sarif"], in: folder.url)
      return try folder.write(outcome.output, as: "\(position).sarif").path
    }
    try python.run(
      ["-m", "check_jsonschema", "--regex-variant", "python", "--schemafile", schema] + logs)
    let broken = try folder.write(
      #"{"version": "2.1.0", "runs": [{"results": []}]}"#, as: "broken.sarif")
    #expect(throws: Outcome.self) {
      try python.run(
        [
          "-m", "check_jsonschema", "--regex-variant", "python", "--schemafile", schema,
          broken.path,
        ])
    }
  }

  @Test("the action is one of GitHub, and the template's job one of GitLab")
  func integrations() throws {
    let python = try Python.needed()
    let template = try Repository.text(".gitlab/section-dump.yml")
    let job = try #require(template.components(separatedBy: "\n---\n").last)
    let file = try Folder().write(job, as: "job.yml").path
    let action = Repository.place("action.yml").path
    for (schema, path) in [("github-actions", action), ("gitlab-ci", file)] {
      try python.run(["-m", "check_jsonschema", "--builtin-schema", "vendor.\(schema)", path])
    }
  }
}
