import Foundation
import TestSupport
import Testing

/// Follows the pages for newcomers with only their text, in an empty folder and an empty home. Prints the time of each
/// way.
@Suite("A newcomer gets to a running plugin", .serialized, .full, .needs("git"))
struct NewcomerTests {
  private static func guide(_ name: String) -> String { "\(Document.guides)/\(name).md" }

  private static let pages =
    ["C", "Cpp", "SwiftWithMacros", "SwiftWithoutMacros"].map { guide("GetStartedIn\($0)") }
    + ["README.md"]

  /// Pages that continue in the folder of another page.
  private static let continuations = [
    guide("GetStartedInSwiftWithMacros"): [guide("TestYourModules")]
  ]

  @Test("by", arguments: pages)
  func follows(page: String) throws {
    if page.hasSuffix("Cpp.md") { try Needs.programs("g++") }
    let repository = try Client.library.get().path
    let home = try Folder()
    let environment = ["HOME": home.path, "XDG_CACHE_HOME": home.place("cache").path]
    let start = ContinuousClock.now
    let folder = try Folder()
    // The package manager remembers a version's contents, whatever home its user has. Here the same version has other
    // contents each time.
    let own = "--security-path \(home.path)/security --cache-path \(home.path)/cache"
    for page in [page] + Self.continuations[page, default: []] {
      try Walkthrough(Document(page), in: folder, environment: environment, limit: 3600).walk {
        $0.replacing("<this repository>", with: repository)
          .replacing(#/\bswift (build|run|package|test)\b/#) { "swift \($0.output.1) \(own)" }
      }
      if page == "README.md" {
        let demo = try Command.run(
          folder.place("swift-beehive/Scripts/demo").path, environment: environment, limit: 3600)
        #expect(demo.status == 0, "\(demo)")
        let shown = try Document(page).block("", with: "$ Scripts/demo").lines.dropFirst()
        #expect(Walkthrough.firstMissing(of: shown, in: demo.output) == nil, "\(demo)")
      }
    }
    let seconds = start.duration(to: .now).components.seconds
    print("minutes: \(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)  \(page)")
    for done in [folder, home] { done.remove() }
  }
}
