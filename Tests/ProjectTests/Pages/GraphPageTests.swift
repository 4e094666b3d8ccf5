import Foundation
import TestSupport
import Testing

/// Looks at the pages of `Examples/GraphPage` in a browser. The images that it
/// draws of them are left in the folder that `BEEHIVE_SCREENSHOTS` names, for people to look at.
@Suite("A browser shows the graph's page", .serialized, .full, .needs("chromium"))
struct GraphPageTests {
  private let folder: Folder
  private let browser: Browser

  init() throws {
    folder = try Folder()
    browser = try Browser()
  }

  private func open(_ page: GraphPage, fragment: String = "") throws -> Page {
    try browser.open(page.draw(in: folder), fragment: fragment)
  }

  @Test("with every entry, and what is wrong marked")
  func entries() throws {
    let page = try open(.small)
    #expect(page.nodes.count == 7, "every entry is a node")
    #expect(page.names("missing") == ["nowhere"])
    #expect(
      page.names("wrong") == ["disk", "log", "nowhere", "shop"],
      "a cycle, what is missing, and who needs it")
    #expect(page.nodes.allSatisfy { $0.classes.isDisjoint(with: ["dimmed", "found"]) })
  }

  @Test(
    "whose search finds a name, dims all others, and says when there is none",
    arguments: [
      (GraphPage.small, "planted", ["planted_name"], 6), (.small, "no%20such%20name", [], 7),
      (.large, "module_499", ["module_499"], 499),
    ])
  func search(graph: GraphPage, text: String, found: [String], dimmed: Int) throws {
    let page = try open(graph, fragment: "search=\(text)")
    #expect(page.names("found") == found)
    #expect(page.names("dimmed").count == dimmed)
    #expect(page.matches == (found.isEmpty ? "nothing found" : "1 found"))
  }

  @Test("where a hostile name is a name, and makes no element")
  func hostile() throws {
    let page = try open(.hostile)
    #expect(page.names("missing").count == 1, "the name is shown")
    #expect(page.document.contains("<title>section-dump graph</title>"))
    #expect(!page.document.contains("<img"))
  }

  /// Opens a page in which a script of the test runs last, and returns what it says.
  private func ask(_ page: GraphPage, _ script: String) throws -> String {
    let file = try page.draw(in: folder)
    let text = try String(contentsOf: file, encoding: .utf8)
    let asking = text.replacing(
      "</body>", with: "<script>document.title = String((() => { \(script) })());</script></body>")
    let answer = try browser.open(folder.write(asking, as: "asking-\(page.rawValue).html"))
    let title =
      answer.document.firstMatch(of: /<title>([^<]*)<\/title><style/)
      ?? answer.document.firstMatch(of: /<title>([^<]*)<\/title>/)
    return try String(#require(title).output.1)
  }

  @Test("whose titles cover no box, however far away", arguments: [GraphPage.small, .large])
  func titles(page: GraphPage) throws {
    let covered = try ask(
      page,
      """
      let covered = 0;
      const box = (element) => element.getBoundingClientRect();
      for (const scale of [1, 0.5, 0.39, 0.3, 0.21, 0.19, 0.1]) {
        move(0, 0, scale);
        const shapes = [...document.querySelectorAll('.node .shape')].map(box)
          .filter((shape) => shape.width > 0);
        for (const title of [...document.querySelectorAll('#titles text')].map(box)) {
          covered += shapes.filter((shape) => shape.left < title.right && title.left < shape.right
            && shape.top + 1 < title.bottom && title.top < shape.bottom - 1).length;
        }
      }
      return covered;
      """)
    #expect(covered == "0")
  }

  @Test("whose panel lists all findings, and those of a node that is wrong or missing")
  func findings() throws {
    let silent = try ask(
      .small,
      """
      const told = () => document.querySelectorAll('#details .finding').length;
      if (graph.findings.length === 0 || told() !== graph.findings.length) return 'not all';
      const wrong = graph.nodes.map((node, index) => index)
        .filter((index) => graph.nodes[index].isInCycle || graph.nodes[index].kind === 'missing');
      for (const index of wrong) {
        graph.nodes[index].element.dispatchEvent(new Event('click'));
        if (told() === 0) return graph.nodes[index].name;
      }
      document.getElementById('all').click();
      return wrong.length + ' of ' + (told() === graph.findings.length);
      """)
    #expect(silent == "3 of true")
  }

  @Test("and draws it", arguments: GraphPage.allCases)
  func screenshot(page: GraphPage) throws {
    let named = ProcessInfo.processInfo.environment["BEEHIVE_SCREENSHOTS"] ?? ""
    let images = named.isEmpty ? folder.url : URL(fileURLWithPath: named)
    try FileManager.default.createDirectory(at: images, withIntermediateDirectories: true)
    let image = images.appendingPathComponent("\(page).png")
    try? FileManager.default.removeItem(at: image)
    try browser.draw(page.draw(in: folder), to: image)
    // An image says so in its first bytes, and one of nothing is a few kilobytes long.
    let bytes = try Data(contentsOf: image)
    #expect(bytes.starts(with: [0x89] + Array("PNG".utf8)))
    #expect(bytes.count > 10_000)
  }
}
