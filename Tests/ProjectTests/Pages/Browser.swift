import Foundation
import TestSupport

/// A browser without a window.
struct Browser {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// Returns a page after its scripts have run; `fragment` follows `#` in its address.
  func open(
    _ page: URL, fragment: String = "", isDark: Bool = false, options: [String] = []
  ) throws -> Page {
    let outcome = try run(scheme(isDark) + options + ["--dump-dom", address(page, fragment)])
    let messages = outcome.errors.split(separator: "\n").filter { $0.contains("CONSOLE") }
    return Page(document: outcome.output, messages: messages.map(String.init))
  }

  /// Draws a page into an image file.
  func draw(
    _ page: URL, fragment: String = "", isDark: Bool = false, options: [String] = [], to image: URL
  ) throws {
    _ = try run(scheme(isDark) + options + ["--screenshot=\(image.path)", address(page, fragment)])
  }

  private func address(_ page: URL, _ fragment: String) -> String {
    page.absoluteString + (fragment.isEmpty ? "" : "#" + fragment)
  }

  private func scheme(_ isDark: Bool) -> [String] {
    isDark ? ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] : []
  }

  /// Runs the browser as a new user, with a profile and a home of its own for each run.
  private func run(_ arguments: [String]) throws -> Outcome {
    let home = folder.place(UUID().uuidString)
    let fixed = [
      "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
      "--user-data-dir=\(home.path)", "--window-size=1600,1000",
      // The tests look at the style of a page once nothing moves. A frame may talk to the page around it.
      "--force-prefers-reduced-motion", "--allow-file-access-from-files",
    ]
    let outcome = try Command.run(
      "chromium", fixed + arguments, environment: ["HOME": home.path], limit: 600)
    guard outcome.status == 0 else { throw outcome }
    return outcome
  }
}

/// The graph that a page shows.
struct Page {
  struct Node: Equatable {
    var name: String
    /// The kind of the node, and its marks.
    var classes: Set<String>
  }

  /// The document as the browser has it.
  let document: String
  /// The lines that the page wrote to the console.
  let messages: [String]

  /// The title, which scripts of tests replace by their findings.
  var title: String? {
    document.firstMatch(of: /<title>([^<]*)</).map { String($0.1) }
  }

  /// The nodes of the graph.
  var nodes: [Node] {
    document.matches(of: /<g class="node ([^"]*)" data-name="([^"]*)"/).map {
      Node(name: String($0.2), classes: Set($0.1.split(separator: " ").map(String.init)))
    }
  }

  /// The search result.
  var matches: String? {
    document.firstMatch(of: /<output id="matches"[^>]*>([^<]*)</).map { String($0.1) }
  }

  /// Returns the names of the nodes with this mark.
  func names(_ mark: String) -> [String] {
    nodes.filter { $0.classes.contains(mark) }.map(\.name).sorted()
  }
}
