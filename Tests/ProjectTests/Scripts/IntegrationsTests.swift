import Foundation
import TestSupport
import Testing
import Yams

/// The action of GitHub and the template of GitLab, run as these services run them.
@Suite("Integrations with GitHub and GitLab")
struct IntegrationsTests {
  /// Makes a folder with a good plugin, and another that declares the same module.
  private func plugins() throws -> Folder {
    let folder = try Folder()
    for name in ["good", "its, 100%: twin"] {
      try TestSupport.Compiler.library(
        TestSupport.Compiler.module("shop"), as: "plugins/\(name).so", in: folder.url,
        ["-Wl,-soname,\(name.count)"])
    }
    return folder
  }

  /// Follows the action's steps, with the built tool in the path.
  private func act(
    _ inputs: [String], in folder: Folder, path: String? = nil,
    action: URL = Repository.place("action.yml")
  ) throws -> Outcome {
    let tool = URL(fileURLWithPath: Repository.sectionDump).deletingLastPathComponent().path
    return try Command.run(
      Repository.place("Tests/Installed/action").path, [action.path] + inputs, in: folder.url,
      environment: ["PATH": (path ?? tool) + ":/usr/bin:/bin"])
  }

  @Test("the action annotates each finding, leaves a log, and fails as the tool does")
  func action() throws {
    let folder = try plugins()
    let outcome = try act(["paths=plugins", "arguments=--recursive"], in: folder).expect(1)
    let title = "plugins/its%2C 100%25%3A twin.so,title=duplicate-module"
    #expect(outcome.output.contains("::error file=\(title)::"), "\(outcome)")
    let outputs = try String(contentsOf: folder.place("outputs"), encoding: .utf8)
    #expect(outputs == "sarif=section-dump.sarif\n")
    let log = try String(contentsOf: folder.place("section-dump.sarif"), encoding: .utf8)
    #expect(log.contains(#""uri":"plugins/its%2C%20100%25%3A%20twin.so""#), "\(log)")

    try act(["paths=plugins/good.so", "sarif=good.sarif"], in: folder).expect(0)
    #expect(FileManager.default.fileExists(atPath: folder.place("good.sarif").path))
    let missing = try act(["paths=plugins/missing.so"], in: folder).expect(2)
    #expect(missing.output.contains("title=unreadable::"), "\(missing)")
    try act(["paths=plugins/good.so", "sarif=no/folder"], in: folder).expect(1)
  }

  @Test("the action says why, and what a host refuses")
  func commands() throws {
    let folder = try plugins()
    let why = try act(["command=why", "arguments=module:shopp", "paths=plugins"], in: folder)
    why.expect(1, output: "::error title=missing-module::module shopp is lost")
    let arguments = "arguments=--host\n/bin/true\n--any-owner\n--deny\ngood*"
    let doctor = try act(["command=doctor", arguments, "paths=plugins"], in: folder)
    doctor.expect(1, output: "::error file=plugins/good.so,title=denied::")
  }

  @Test("the action installs the tool where the runner has none")
  func installs() throws {
    let folder = try plugins()
    try FileManager.default.copyItem(
      at: Repository.place("action.yml"), to: folder.place("action.yml"))
    let install = """
      #!/bin/sh
      mkdir -p "$4/bin" && ln -s '\(Repository.sectionDump)' "$4/bin/section-dump" && echo "$@" > arguments
      """
    let script = try folder.write(install, as: "Scripts/install")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
    try act(
      ["paths=plugins/good.so"], in: folder, path: "/nowhere", action: folder.place("action.yml")
    ).expect(0)
    let arguments = try String(contentsOf: folder.place("arguments"), encoding: .utf8)
    #expect(arguments.hasPrefix("--only tool --prefix /"), "\(arguments)")
  }

  @Test("the action is YAML, and each of its inputs is used")
  func inputs() throws {
    let text = try Repository.text("action.yml")
    let action = try #require(try Yams.load(yaml: text) as? [String: Any])
    let inputs = try #require(action["inputs"] as? [String: Any]).keys
    #expect(Set(text.matches(of: /inputs\.([a-z]+)/).map { String($0.1) }) == Set(inputs))
    #expect((action["runs"] as? [String: Any])?["using"] as? String == "composite")
  }

  @Test("the template has the shell write a report, show the findings and fail")
  func template() throws {
    let folder = try plugins()
    let parts = try Yams.load_all(yaml: Repository.text(".gitlab/section-dump.yml"))
      .compactMap { $0 as? [String: [String: Any]] }
    let inputs = try #require(parts.first?["spec"]?["inputs"] as? [String: Any])
    let lines = try #require(parts.last?["section-dump"]?["script"] as? [String])
    for (paths, status) in [("plugins", 1), ("plugins/good.so", 0), ("missing", 2)] {
      var values = inputs.compactMapValues { ($0 as? [String: Any])?["default"] as? String }
      values.merge(["paths": paths, "arguments": "--recursive"]) { $1 }
      let script = values.reduce(lines.joined(separator: "\n")) { text, value in
        text.replacing("$[[ inputs.\(value.key) ]]", with: value.value)
      }
      let tool = URL(fileURLWithPath: Repository.sectionDump).deletingLastPathComponent().path
      try Command.run(
        "sh", ["-e", "-c", script], in: folder.url, environment: ["PATH": "\(tool):/usr/bin:/bin"]
      ).expect(status)
      let report = try Data(contentsOf: folder.place("gl-code-quality-report.json"))
      let findings = try #require(
        try JSONSerialization.jsonObject(with: report) as? [[String: Any]])
      #expect(findings.count == (status == 0 ? 0 : 1))
    }
  }
}
