import Foundation
import TestSupport
import Testing

@Suite("Documents lead to each other")
struct LinksTests {
  @Test("each link to a file of the checkout, and to a heading that is there")
  func links() throws {
    let pages = try Document.all()
    let anchors = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0.anchors) })
    for page in pages {
      for (file, anchor) in page.targets {
        #expect(
          FileManager.default.fileExists(atPath: Repository.place(file).path),
          "\(page.path) leads to \(file)")
        guard let anchor else { continue }
        #expect(anchors[file]?.contains(anchor) == true, "\(page.path) leads to \(file)#\(anchor)")
      }
    }
  }

  @Test("each page is reached from README")
  func reached() throws {
    let pages = try Document.all()
    let links = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0.links) })
    var reached: Set = ["README.md"]
    var next = ["README.md"]
    while let page = next.popLast() {
      next += links[page, default: []].filter { reached.insert($0).inserted }
    }
    #expect(pages.map(\.path).filter { !reached.contains($0) } == [])
  }

  @Test("suites that a page names are there")
  func suites() throws {
    let suites = try Set(Texts.functions.get().keys.map { $0.prefix { $0 != "." } })
    for page in try Document.all() where page.path != "CHANGELOG.md" {
      let named = try Repository.text(page.path).matches(of: /`(\w+Tests)`/).map(\.1)
      #expect(named.filter { !suites.contains($0) } == [], "\(page.path)")
    }
  }

  @Test("each row of Docs/routing.md names a test that is there")
  func routing() throws {
    let rows = Markdown(text: try Repository.text("Docs/routing.md")).rows
      .filter { !$0.hasPrefix("|---|") && !$0.hasSuffix("| test |") }
    let tests = rows.map { $0.firstMatch(of: /\| `([A-Za-z]+\.[A-Za-z]+)` \|$/)?.output.1 ?? $0 }
    let functions = try Texts.functions.get()
    #expect(!tests.isEmpty && tests.filter { functions[String($0)] == nil } == [])
  }

  @Test("each test that Docs/beehive.md names is there")
  func titles() throws {
    let titles = Markdown(text: try Repository.text("Docs/beehive.md")).rows
      .compactMap { $0.firstMatch(of: #/ \| "(.*)" \|$/#)?.output.1 }.map(String.init)
    let literals = try Texts.ofTests.get().values.flatMap { text in
      text.utf8.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(!titles.isEmpty)
    #expect(Set(titles).subtracting(literals) == [])
  }

  @Test("README fits on its pages: at most 150 lines")
  func length() throws {
    #expect(try Repository.text("README.md").lines.count <= 150)
  }

  /// Returns whether a capital after the first letter marks a name: `CMake`, `JSON`.
  private func isName(_ word: some StringProtocol) -> Bool {
    word.dropFirst().contains(where: \.isUppercase)
  }

  /// Code, links and text in angle brackets are not prose. Tests/ProjectTests/Documents/words.txt has the words that no
  /// dictionary has.
  @Test("each word is spelled as a dictionary or our list has it", .needs("dict:en"))
  func spelling() throws {
    let known = Set(try Repository.text("Tests/ProjectTests/Documents/words.txt").lines)
    for page in try Document.all() {
      let prose = try Document.prose(page.path)
      let unknown = try Command.output(
        "aspell", ["list", "--lang=en", "--encoding=utf-8", "--ignore=2"], input: Data(prose.utf8))
      let words = Set(unknown.lines).subtracting(known).filter { !isName($0) }
      #expect(words.sorted() == [], "\(page.path)")
    }
  }
}
