import Foundation
import TestSupport
import Testing

@Suite("Findings in the forms of services say what the table says")
struct ServiceFormatsTests {
  /// A finding in the terms that all forms share.
  struct Plain: Hashable {
    var code: String
    var level: String
    var path: String?
    var text: String
  }

  /// The forms, with a reader for each.
  enum Form: String, CaseIterable, Sendable {
    case sarif, github, gitlab

    func read(_ output: String) throws -> [Plain] {
      switch self {
      case .sarif: try sarif(output)
      case .github: try output.split(separator: "\n").map { try Self.annotation($0) }
      case .gitlab: try gitlab(output)
      }
    }

    private func sarif(_ output: String) throws -> [Plain] {
      let log = try Tool.object(output)
      #expect(log["version"] as? String == "2.1.0")
      let run = try #require((log["runs"] as? [[String: Any]])?.first)
      let driver = try #require((run["tool"] as? [String: [String: Any]])?["driver"])
      let rules = (driver["rules"] as? [[String: String]])?.compactMap { $0["id"] }
      let results = try #require(run["results"] as? [[String: Any]])
      #expect(Set(rules ?? []) == Set(results.compactMap { $0["ruleId"] as? String }))
      return try results.map { result in
        let location = (result["locations"] as? [[String: Any]])?.first?["physicalLocation"]
        let artifact = (location as? [String: Any])?["artifactLocation"] as? [String: String]
        let uri = artifact?["uri"].flatMap { URL(string: $0) }
        let levels = ["error": "error", "warning": "warning", "note": "remark"]
        return Plain(
          code: try #require(result["ruleId"] as? String),
          level: levels[result["level"] as? String ?? ""] ?? "",
          path: uri.map { $0.isFileURL ? $0.path : $0.relativePath },
          text: try #require((result["message"] as? [String: String])?["text"]))
      }
    }

    /// `::error file=a%2Cb.so,title=cycle::…`
    private static func annotation(_ line: Substring) throws -> Plain {
      let match = try #require(
        try #/::(error|warning|notice) (?:file=([^,:]*),)?title=([^,:]*)::(.*)/#.wholeMatch(
          in: line))
      let decoded = [match.2 ?? "", match.3, match.4].map { $0.removingPercentEncoding ?? "" }
      return Plain(
        code: decoded[1], level: match.1 == "notice" ? "remark" : String(match.1),
        path: match.2.map { _ in decoded[0] }, text: decoded[2])
    }

    private func gitlab(_ output: String) throws -> [Plain] {
      let document = try JSONSerialization.jsonObject(with: Data(output.utf8))
      let levels = ["major": "error", "minor": "warning", "info": "remark"]
      let issues = try #require(document as? [[String: Any]])
      #expect(Set(issues.compactMap { $0["fingerprint"] as? String }).count == issues.count)
      return try issues.map { issue in
        let path = (issue["location"] as? [String: Any])?["path"] as? String
        return Plain(
          code: try #require(issue["check_name"] as? String),
          level: levels[issue["severity"] as? String ?? ""] ?? "",
          path: path == "(all files)" ? nil : path,
          text: try #require(issue["description"] as? String))
      }
    }
  }

  /// Makes files with errors, a warning, a remark and a name that each form has to encode.
  private func files() throws -> Folder {
    let folder = try Folder()
    let shop = Compiler.module("shop", "BEEHIVE_REQUIRES(\"log\")")
    for name in ["shop.so", "a, 100%: b ü.so"] {
      try Compiler.library(shop, as: name, in: folder.url, ["-Wl,-soname,\(name.utf8.count)"])
    }
    try FileManager.default.copyItem(at: folder.place("shop.so"), to: folder.place("copy.so"))
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where !file.hasSuffix(".so") { try FileManager.default.removeItem(at: folder.place(file)) }
    return folder
  }

  @Test("of verify, each finding once", arguments: Form.allCases)
  func verify(form: Form) throws {
    let folder = try files()
    let arguments = [
      "verify", "-r", ".", folder.place("missing.so").path, "--require", "module:pay",
    ]
    let json = try Command.run(
      Repository.sectionDump, arguments + ["--format", "json"], in: folder.url)
    let expected = try Tool.files(of: json.expect(2), key: "findings").map { finding in
      let path = finding["path"] as? String ?? ""
      let index = (finding["index"] as? Int).map { "[\($0)]" } ?? ""
      let place = path + ((finding["section"] as? String).map { " \($0)" } ?? "") + index
      return Plain(
        code: finding["code"] as? String ?? "", level: finding["level"] as? String ?? "",
        path: path != "(all files)" ? path : form == .sarif ? "." : nil,
        text: (path == "(all files)" ? "" : "\(place): ")
          + "\(finding["message"] ?? "")\n\(finding["remedy"] ?? "")")
    }
    #expect(Set(expected.map(\.level)) == ["error", "warning", "remark"], "\(expected)")
    let outcome = try Command.run(
      Repository.sectionDump, arguments + ["--format", form.rawValue], in: folder.url)
    #expect(try form.read(outcome.expect(2).output) == expected)
  }

  @Test("of a host that cannot be read", arguments: Form.allCases)
  func absent(form: Form) throws {
    let folder = try files()
    for words in [["doctor"], ["why", "module:pay"]] {
      let outcome = try Command.run(
        Repository.sectionDump,
        words + [".", "--host", "absent", "--format", form.rawValue], in: folder.url)
      #expect(try form.read(outcome.expect(2).output).map(\.code) == ["unreadable"])
    }
  }

  @Test("of verify, which GitLab knows again in a build where slots have moved")
  func fingerprints() throws {
    let folder = try Folder()
    let shop = Compiler.module("shop", "BEEHIVE_REQUIRES(\"log\")")
    let known = try [shop, Compiler.module("first") + "\n" + shop].map { source in
      try Compiler.library(source, as: "shop.so", in: folder.url)
      let outcome = try Command.run(
        Repository.sectionDump, ["verify", "--format", "gitlab", "shop.so"], in: folder.url)
      let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      return try #require(document as? [[String: Any]]).compactMap { $0["fingerprint"] as? String }
    }
    #expect(known[0] == known[1] && !known[0].isEmpty, "\(known)")
  }

  @Test(
    "of doctor: what is refused, and the files of a folder without plugins",
    arguments: Form.allCases)
  func doctor(form: Form) throws {
    let folder = try files()
    try folder.write("text", as: "empty/README")
    let arguments = ["doctor", ".", "empty", "--host", "/bin/true", "--any-owner"]
    let outcome = try Command.run(
      Repository.sectionDump, arguments + ["--format", form.rawValue], in: folder.url)
    let findings = try form.read(outcome.expect(1).output)
    #expect(findings.contains { $0.code == "unmet-requirement" && $0.level == "error" })
    let text = findings.first { $0.path == "empty/README" }
    #expect(text?.code == "not-an-object" && text?.level == "error", "\(findings)")
  }

  @Test("of why: the loss, which is no error where another way is left", arguments: Form.allCases)
  func why(form: Form) throws {
    let folder = try files()
    func losses(_ entry: String, _ status: Int32) throws -> [Plain] {
      let outcome = try Command.run(
        Repository.sectionDump, ["why", "--format", form.rawValue, entry, "."], in: folder.url)
      return try form.read(outcome.expect(status).output)
    }
    let all = try losses("module:shop", 1)
    #expect(Set(all.map(\.level)) == ["error"] && !all.isEmpty)
    #expect(try losses("module:pay", 1).map(\.code) == ["missing-module"])
    try Compiler.library(Compiler.module("log"), as: "log.so", in: folder.url)
    let twin = try losses("module:shop", 0)
    // The copy is lost like the file.
    #expect(twin.map(\.level) == ["remark", "remark"], "\(twin)")
    #expect(Set(twin.map(\.code)) == ["duplicate-module"] && Set(twin.map(\.path)).count == 2)
  }
}
