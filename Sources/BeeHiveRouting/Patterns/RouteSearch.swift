/// The values that the path of a URL gives by a pattern, in the order of its segments.
typealias PathValues = [(name: String, value: any URLConvertible)]

/// Finds every route that a URL meets, the best one first.
///
/// Segment by segment from the left: a literal beats a parameter with text around it, that beats a typed
/// one, that a plain one, that what takes all the rest. A larger priority beats all of this.
struct RouteSearch {
  /// A route or rule whose whole pattern a URL meets, and the values that its path gives.
  typealias Match = (number: UInt64, priority: Int, values: PathValues)

  private let tree: RouteTree
  private let url: URLText
  private let ignoringTypes: Bool
  private var segments: [String] = []
  /// The number of segments before those of the path.
  private var offset: Int { segments.count - url.path.count }
  /// The host with its port, which a pattern may ask for.
  private var hostWithPort: String?
  private var values: [any URLConvertible] = []
  private var matches: [Match] = []

  /// The matches among the routes of the URL's scheme, then among those of any scheme.
  static func matches(
    of url: URLText, in tree: RouteTree, ignoringTypes: Bool = false
  ) -> [Match] {
    var search = RouteSearch(tree: tree, url: url, ignoringTypes: ignoringTypes)
    if let scheme = url.scheme { search.visitRoots(of: scheme) }
    search.visitRoots(of: nil)
    guard search.matches.count > 1 else { return search.matches }
    return search.matches.enumerated()
      .sorted { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }
      .map(\.element)
  }

  private mutating func visitRoots(of scheme: String?) {
    if let root = tree.hosts[scheme] {
      segments = (url.hostSegment.map { [$0] } ?? []) + url.path
      hostWithPort = url.hostKeyWithPort
      // There, the literals of hosts are their keys.
      visit(root, 0, literal: url.hostKey)
    }
    if let root = tree.paths[scheme] {
      hostWithPort = nil
      segments = (url.plainHost.map { [$0] } ?? []) + url.path
      visit(root, 0, literal: segments.first)
    }
  }

  private mutating func visit(_ node: RouteTree.Node, _ depth: Int, literal: String?) {
    guard depth < segments.count, let literal else {
      add(node.ends, rest: nil)
      add(node.rests, rest: [String]())
      return
    }
    let next = depth + 1 < segments.count ? segments[depth + 1] : nil
    if depth == 0, let hostWithPort, let child = node.literals[hostWithPort] {
      visit(child, 1, literal: next)
    }
    if let child = node.literals[literal] { visit(child, depth + 1, literal: next) }
    for edge in node.edges.edges(for: segments[depth]) {
      guard let value = value(of: segments[depth], at: edge) else { continue }
      values.append(value)
      visit(edge.node, depth + 1, literal: next)
      values.removeLast()
    }
    if !node.paths.isEmpty {
      let text = path(from: depth)
      if !text.climbs { add(node.paths, rest: text) }
    }
    if !node.rests.isEmpty { add(node.rests, rest: Array(segments[depth...])) }
  }

  /// The value of a segment that has the edge's frame; nil where it is none of the type.
  private func value(of segment: String, at edge: RouteEdges.Edge) -> (any URLConvertible)? {
    let frame = edge.frame
    let text =
      frame == RouteEdges.Frame()
      ? segment : String(segment.dropFirst(frame.prefix.count).dropLast(frame.suffix.count))
    guard let type = edge.type, !ignoringTypes else { return text }
    return type.convert(text)
  }

  /// The rest of the path, as the URL has it.
  private func path(from depth: Int) -> String {
    guard depth < offset else { return url.pathTail(from: depth - offset) }
    return segments[0] + url.pathBehindHost
  }

  private mutating func add(_ endings: [RouteTree.Ending], rest: (any URLConvertible)?) {
    guard !endings.isEmpty else { return }
    let values = rest.map { self.values + [$0] } ?? self.values
    // An optional part may bring a route to two ends; the better form came first.
    let before = matches.count == 0 ? [] : Set(matches.lazy.map(\.number))
    for ending in endings where !before.contains(ending.number) {
      matches.append((ending.number, ending.priority, Array(zip(ending.names, values))))
    }
  }
}

extension String {
  /// Whether a path of its text leads out of where it begins: slashes that were encoded count here.
  fileprivate var climbs: Bool {
    utf8.first == UInt8(ascii: "/")
      || utf8.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
        .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
  }
}
