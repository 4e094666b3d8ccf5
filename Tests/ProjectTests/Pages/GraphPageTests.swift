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

  /// Opens a page whose last script is one of `Tests/Fixtures/GraphPage`, and returns the text that it makes.
  private func ask(_ page: GraphPage, _ script: String) throws -> String {
    let script = try Repository.fixture("GraphPage/\(script).js")
    let file = try page.draw(in: folder)
    let text = try String(contentsOf: file, encoding: .utf8)
    let asking = text.replacing(
      "</body>", with: "<script>document.title = String((() => {\n\(script)\n})());</script></body>"
    )
    let answer = try browser.open(folder.write(asking, as: "asking-\(page.rawValue).html"))
    let title =
      answer.document.firstMatch(of: /<title>([^<]*)<\/title><style/)
      ?? answer.document.firstMatch(of: /<title>([^<]*)<\/title>/)
    return try String(#require(title).output.1)
  }

  @Test("whose titles cover no box, however far away", arguments: [GraphPage.small, .large])
  func titles(page: GraphPage) throws {
    let covered = try ask(page, "covered")
    #expect(covered == "0")
  }

  @Test("whose panel lists all findings, and those of a node that is wrong or missing")
  func findings() throws {
    let silent = try ask(.small, "silent")
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
