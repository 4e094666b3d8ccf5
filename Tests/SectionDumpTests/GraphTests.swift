import Foundation
import TestSupport
import Testing

@Suite("section-dump graph")
struct GraphTests {
  /// Builds two files that need each other in a folder of that name. They have everything that a picture can show.
  private func shop(_ folder: String) throws -> [String] {
    try Fixtures.folder(folder)
    return try ["shop", "log"].map { name in
      try Fixtures.build(Fixtures.source("graph-\(name).c"), as: "\(folder)/lib\(name).so")
    }
  }

  /// Names that would act as markup if they were written unescaped.
  private static let hostile = [
    #"</script><img src=x onerror=alert(1)>"#, #"<!--<script>"#, #"a"]; n9 -> n8 [label="b"#,
    #"back\slash\n\N"#, "`*md*`", "%%{init: {}}%%", "end", "#quot;&lt;&amp;", "line\nbreak",
    "\u{1b}[2J", "\u{202e}txt", "@data@", "名前",
  ]

  private func hostileLibrary(_ name: String) throws -> String {
    let entries = Self.hostile.enumerated().map { index, text in
      let bytes = text.utf8.map { "\\\(String($0, radix: 8))" }.joined(separator: "\"\"")
      return """
        __attribute__((used, retain, aligned(8), section("BeehiveMods")))
        static const char *const entry\(index) = "\(bytes)";
        """
    }
    return try Fixtures.build(entries.joined(separator: "\n"), as: name)
  }

  private func draw(_ format: String, _ files: [String]) throws -> String {
    try Tool.run(["graph", "--format", format] + files).expect(0).output
  }

  @Test("draws modules, services, implementations, targets and routes, and marks what is wrong")
  func goldens() throws {
    let files = try shop("picture")
    let machine = try #require(try Tool.files([files[0]]).first?["machine"] as? String)
    for (format, golden) in [
      ("dot", "graph.dot"), ("mermaid", "graph.mmd"), ("json", "graph.json"),
    ] {
      try expectGolden(try draw(format, files).replacing(machine, with: "MACHINE"), golden)
    }
    // The panel of a page lists the findings that verify prints.
    let findings = try Tool.object(draw("json", files))["findings"] as? [Any]
    #expect(try Tool.findings(files, status: 1).count == findings?.count)
  }

  @Test("writes what Graphviz reads, whatever names hold", .needs("dot"))
  func graphviz() throws {
    for (files, count) in [
      (try shop("graphviz"), 13), ([try hostileLibrary("graphviz.so")], Self.hostile.count),
    ] {
      let picture = Data(try draw("dot", files).utf8)
      let outcome = try Fixtures.run("dot", ["-Tsvg"], input: picture).expect(0)
      #expect(outcome.errors.isEmpty)
      #expect(outcome.output.matches(of: /class="node"/).count == count)
    }
  }

  @Test("keeps hostile names apart from the diagram and the data around them")
  func hostileNames() throws {
    let file = try hostileLibrary("hostile-graph.so")
    let data = try Tool.object(draw("json", [file]))
    let nodes = try #require(data["nodes"] as? [[String: Any]])
    let shown = Set(nodes.compactMap { $0["name"] as? String })
    #expect(shown.count == Self.hostile.count)
    #expect(shown.isSuperset(of: ["</script><img src=x onerror=alert(1)>", "@data@", "名前"]))

    let mermaid = try draw("mermaid", [file])
    for line in mermaid.split(separator: "\n") where line.contains("(\"") {
      #expect(line.wholeMatch(of: #/ *n\d+\("[^"`<>%\[\]]*<br>module"\)/#) != nil, "\(line)")
    }
  }

  @Test("draws nothing of a file without entries")
  func empty() throws { #expect(try draw("mermaid", ["/bin/true"]) == "flowchart LR\n") }
}
