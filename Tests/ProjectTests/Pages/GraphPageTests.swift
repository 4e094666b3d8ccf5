import Foundation
import TestSupport
import Testing

/// Looks at the pages of `Examples/GraphPage` in a browser. Images of the pages stay in the folder that
/// `BEEHIVE_SCREENSHOTS` names, for people to look at.
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
    #expect(page.names("module") == ["a"], "the folder ends no script")
  }

  /// Opens a page whose last script is one of `Tests/Fixtures/GraphPage`, and returns the text that it makes.
  ///
  /// A narrow page is in a frame as wide as a telephone, because no browser window can be that narrow.
  private func answer(to look: Look) throws -> String {
    let script = try Repository.fixture("GraphPage/\(look.script).js")
    let file = try look.page.draw(in: folder)
    let text = try String(contentsOf: file, encoding: .utf8)
    let asking = text.replacing(
      "</body>",
      with: "<script>top.document.title = String((() => {\n\(script)\n})());</script></body>"
    )
    let name = "asking-\(look.page).html"
    var written = try folder.write(asking, as: name)
    if look.isNarrow {
      let frame = "<iframe src='\(name)' style='width: 390px; height: 844px'></iframe>"
      written = try folder.write("<!DOCTYPE html><body>\(frame)</body>", as: "narrow.html")
    }
    let answer = try browser.open(written, isDark: look.isDark)
    let title =
      answer.document.firstMatch(of: /<title>([^<]*)<\/title><style/)
      ?? answer.document.firstMatch(of: /<title>([^<]*)<\/title>/)
    return try String(#require(title).output.1)
  }

  /// A script for a page, and the findings that it must return.
  struct Look: Sendable, CustomTestStringConvertible {
    var script: String
    var page = GraphPage.small
    var isNarrow = false
    var isDark = false
    var finds: String
    var testDescription: String {
      "\(script) \(page)\(isNarrow ? " narrow" : "")\(isDark ? " dark" : "")"
    }
  }

  static let looks = [
    Look(script: "silent", finds: "3 of true"),
    Look(
      script: "chosen",
      finds: "planted_name 1, shop 1, edges 1; dimmed EnglishGreeter Greeter disk log nowhere"),
    Look(
      script: "keys",
      finds: """
        1 stop: log; ArrowRight disk; ArrowDown shop; ArrowDown nowhere; ArrowLeft shop; End Greeter; ArrowRight Greeter; Home log; \
        Enter log true; Tab to close; Escape log false; found planted_name; ArrowDown log
        """),
    Look(
      script: "labels",
      finds:
        "listbox of 7: log, module · operations · in a cycle, in more/libsmall1.so, 1 finding; 0 nameless"
    ),
    Look(
      script: "paths",
      finds: """
        libsmall0.so more/libsmall1.so; libsmall0.so BeehiveRecords[0]; more/libsmall1.so BeehiveRecords[0]; absolute: summary
        """),
    Look(
      script: "sheet", isNarrow: true,
      finds: "390: closed, sheet, room, closed by its button, entry in sight, closed by Escape"),
  ]
  static let looksAtPages = [GraphPage.small, .large].flatMap { page in
    [
      Look(script: "covered", page: page, finds: "0"),
      Look(script: "sizes", page: page, finds: "1 1 1 1 1 1 1"),
    ]
  }
  static let looksAtColours = [false, true].flatMap { isDark in
    [false, true].map { isNarrow in
      Look(
        script: "contrast", isNarrow: isNarrow, isDark: isDark,
        finds: "\(isDark ? "dark" : "light"), faint:")
    }
  }

  @Test(
    "with the keyboard, on a telephone, by night, and from afar",
    arguments: looks + looksAtPages + looksAtColours)
  func look(_ look: Look) throws {
    let found = try answer(to: look)
    #expect(found == look.finds)
  }

  @Test("and draws it", arguments: GraphPage.allCases)
  func screenshot(page: GraphPage) throws {
    let named = ProcessInfo.processInfo.environment["BEEHIVE_SCREENSHOTS"] ?? ""
    let images = named.isEmpty ? folder.url : URL(fileURLWithPath: named)
    try FileManager.default.createDirectory(at: images, withIntermediateDirectories: true)
    let image = images.appendingPathComponent("\(page).png")
    try? FileManager.default.removeItem(at: image)
    try browser.draw(page.draw(in: folder), to: image)
    // The first bytes identify an image. An image of nothing has only a few kilobytes.
    let bytes = try Data(contentsOf: image)
    #expect(bytes.starts(with: [0x89] + Array("PNG".utf8)))
    #expect(bytes.count > 10_000)
  }
}
