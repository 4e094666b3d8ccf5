import Foundation
import TestSupport
import Testing

/// Looks at the site that `Scripts/guides` built last. The pictures in `Docs/pictures/site` are for people: letters differ
/// from machine to machine. `RECORD_GOLDENS=1` draws them anew, and records the sizes and colours that a test compares.
@Suite(
  "The site of the guides", .serialized, .full,
  .enabled(
    if: FileManager.default.fileExists(atPath: Site.root.path), "Scripts/guides has not run"))
struct SiteTests {
  private static let folder = "Docs/pictures/site"

  /// Returns the address of the page that a document became.
  private func address(of path: String) -> String {
    let name = URL(filePath: path).deletingPathExtension().lastPathComponent.lowercased()
    return "/documentation/beehive" + (path.hasSuffix("/BeeHive.md") ? "" : "/\(name)")
  }

  @Test("has every guide and every page of Docs, and its first page lists them")
  func pages() throws {
    let pages = try Site.pages()
    let first = try #require(pages["/documentation/beehive"])
    let documents = try Document.all().map(\.path).filter { $0.contains("/") }
    #expect(documents.count > 30)
    for path in documents {
      let address = address(of: path)
      #expect(pages[address] != nil, "\(path) is not in the site")
      let isListed = first.topics.contains(address) || path.hasSuffix("/BeeHive.md")
      #expect(isListed, "the first page does not list \(path)")
    }
  }

  @Test("leads only to pages and headings that are there, and each page is a file")
  func links() throws {
    let pages = try Site.pages()
    for (address, page) in pages {
      let file = Site.root.appendingPathComponent("\(address)/index.html")
      #expect(FileManager.default.fileExists(atPath: file.path), "\(address) has no file")
      for link in page.links {
        let parts = link.split(separator: "#", maxSplits: 1)
        let target = pages[String(parts[0])]
        #expect(target != nil, "\(address) leads to \(link)")
        guard parts.count == 2, let target else { continue }
        #expect(target.anchors.contains(String(parts[1])), "\(address) leads to \(link)")
      }
    }
  }

  /// A page at a width, by day or by night.
  struct Look: Sendable, CustomTestStringConvertible {
    var page: String
    var width: Int
    var isDark: Bool
    var name: String {
      "\(page.isEmpty ? "first" : page)-\(width)-\(isDark ? "dark" : "light")"
    }
    var testDescription: String { name }
    var fragment: String { "\(width),/documentation/beehive/\(page)" }
  }

  private static let looks = ["", "plugins", "hive"].flatMap { page in
    [390, 1280].flatMap { width in
      [false, true].map { Look(page: page, width: width, isDark: $0) }
    }
  }

  /// The browser's own clock: it runs ahead until the page has loaded everything.
  private static let patient = ["--virtual-time-budget=30000"]

  @Test("fits two widths, by day and by night", .needs("chromium"), .needs("python3"))
  func looks() throws {
    let records = ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1"
    let browser = try Browser()
    let found =
      try Site.whileServed { page in
        try Self.looks.map { look in
          let opened = try browser.open(
            page, fragment: look.fragment, isDark: look.isDark, options: Self.patient)
          #expect(opened.messages == [], "\(look.name)")
          if records {
            // A window has at least 500 pixels.
            let size = "--window-size=\(max(look.width, 500)),700"
            try browser.draw(
              page, fragment: look.fragment, isDark: look.isDark,
              options: Self.patient + [size, "--force-device-scale-factor=0.5"],
              to: Repository.place("\(Self.folder)/\(look.name).png"))
          }
          return "\(look.name): \(opened.title ?? "no title")"
        }
      }
    let kept = "\(Self.folder)/looks.txt"
    if records {
      try Data((found.joined(separator: "\n") + "\n").utf8).write(to: Repository.place(kept))
    }
    let wanted = try Repository.text(kept).split(separator: "\n").map(String.init)
    #expect(wanted.count == found.count)
    for (line, wanted) in zip(found, wanted) { #expect(line == wanted) }
    #expect(!records, "look at the difference, and run the test again without RECORD_GOLDENS")
  }

  @Test(
    "finds pages and names by the filter of its navigator", .needs("chromium"), .needs("python3"),
    arguments: [("decision", "The decision table, version 1"), ("ServiceScope", "ServiceScope")])
  func search(text: String, title: String) throws {
    let browser = try Browser()
    let page = try Site.whileServed { look in
      try browser.open(look, fragment: "1280,/documentation/beehive,\(text)", options: Self.patient)
    }
    #expect(page.title?.contains(title) == true, "\(page.title ?? "no title")")
  }
}
