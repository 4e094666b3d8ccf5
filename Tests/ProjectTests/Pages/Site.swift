import Foundation
import TestSupport

/// The site that `Scripts/guides` builds.
enum Site {
  static let root = Repository.place(".build/guides")

  /// A page as it is rendered from: its references, and the anchors of its headings.
  struct Page {
    /// The addresses in this site that the page leads to, with their anchors.
    var links: [String] = []
    var anchors: Set<String> = []
    /// The articles and symbols that the first page lists, if this is the first page.
    var topics: [String] = []

    init(_ data: Data) throws {
      let content = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
      let references = content["references"] as? [String: [String: Any]] ?? [:]
      links = references.values.compactMap { $0["url"] as? String }.filter { $0.hasPrefix("/") }
      let sections = content["topicSections"] as? [[String: Any]] ?? []
      topics = sections.flatMap { $0["identifiers"] as? [String] ?? [] }
        .compactMap { references[$0]?["url"] as? String }
      collect(content["primaryContentSections"] ?? [])
    }

    private mutating func collect(_ value: Any) {
      if let list = value as? [Any] { list.forEach { collect($0) } }
      guard let object = value as? [String: Any] else { return }
      if let anchor = object["anchor"] as? String { anchors.insert(anchor) }
      object.values.forEach { collect($0) }
    }
  }

  /// Returns all pages, by their addresses.
  static func pages() throws -> [String: Page] {
    let data = root.appendingPathComponent("data")
    let files = try FileManager.default.subpathsOfDirectory(atPath: data.path)
      .filter { $0.hasSuffix(".json") }
    return try Dictionary(
      uniqueKeysWithValues: files.map {
        let page = try Page(Data(contentsOf: data.appendingPathComponent($0)))
        return ("/" + $0.dropLast(".json".count), page)
      })
  }

  private static let server = """
    import functools, http.server, sys
    handler = http.server.SimpleHTTPRequestHandler
    handler.log_message = lambda *arguments: None
    serving = functools.partial(handler, directory=sys.argv[1])
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), serving)
    print(server.server_port, 'ready', sep='\\n', flush=True)
    server.serve_forever()
    """

  /// Serves the site, with the page that looks at others, while `body` runs.
  static func whileServed<Value>(_ body: (_ look: URL) throws -> Value) throws -> Value {
    let folder = try Folder()
    for name in try FileManager.default.contentsOfDirectory(atPath: root.path) {
      try FileManager.default.createSymbolicLink(
        at: folder.place(name), withDestinationURL: root.appendingPathComponent(name))
    }
    try folder.write(Repository.fixture("Site/look.html"), as: "look.html")
    let python = Needs.path(of: "python3") ?? "python3"
    return try Command.whileRunning(python, ["-c", server, folder.path], in: folder.url) {
      _, printed in
      guard let port = printed.first.flatMap({ Int($0) }),
        let look = URL(string: "http://127.0.0.1:\(port)/look.html")
      else { throw CocoaError(.fileReadUnknown) }
      return try body(look)
    }
  }
}
