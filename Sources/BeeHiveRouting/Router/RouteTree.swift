/// The routes of one router, by the segments of their patterns.
///
/// A value in flat arrays: whoever matches holds a copy that costs nothing, and a registration meanwhile
/// changes another one. Matching looks at the branches that a URL can take, not at the routes.
struct RouteTree: Sendable {
  /// Which patterns a URL may meet: those of its scheme or of any, with a host or without.
  struct Root: Hashable {
    var scheme: String?
    var isAbsolute: Bool
  }

  /// A route that ends at a node, with the names of what its path gave values to.
  struct Ending: Sendable {
    var route: Route.ID
    var priority: Int
    var names: [String]
  }

  /// An edge that takes a segment and gives a value.
  struct Edge: Sendable {
    var prefix: String
    var suffix: String
    var type: SegmentTypes.SegmentType?
    var child: Int

    /// Text around the value beats none, a type beats text, a narrow type beats a wide one.
    /// Text is counted in characters, so that composed and decomposed ones are the same edge.
    fileprivate var order: (Int, Int, String, String, String) {
      (-(prefix.count + suffix.count), type?.rank ?? 5, type?.name ?? "", prefix, suffix)
    }
  }

  struct Node: Sendable {
    var literals: [String: Int] = [:]
    /// In the order in which they are tried.
    var edges: [Edge] = []
    /// Larger priority first, then the earlier one.
    var ends: [Ending] = []
    /// Those that take what is left, at least one segment, as one text.
    var paths: [Ending] = []
    /// Those that take what is left, if anything.
    var rests: [Ending] = []

    var isEmpty: Bool {
      literals.isEmpty && edges.isEmpty && ends.isEmpty && paths.isEmpty && rests.isEmpty
    }
  }

  private(set) var nodes: [Node] = []
  private(set) var roots: [Root: Int] = [:]
  /// Nodes that nobody uses.
  private var free: [Int] = []

  init() {}

  /// A tree of one pattern.
  init(of pattern: RoutePattern, types: SegmentTypes) throws(RoutingError) {
    let root = Root(scheme: pattern.scheme, isAbsolute: pattern.isAbsolute)
    for variant in pattern.variants {
      _ = try insert(
        Route.ID(rawValue: 0), priority: 0, segments: variant, root: root, types: types,
        pattern: pattern.text)
    }
  }

  /// Puts a route at the end of one form of its pattern; the route that stands there already, else.
  mutating func insert(
    _ route: Route.ID, priority: Int, segments: [RoutePattern.Segment], root: Root,
    types: SegmentTypes, pattern: String
  ) throws(RoutingError) -> Route.ID? {
    var resolved: [SegmentTypes.SegmentType?] = []
    for segment in segments {
      if case .capture(let capture) = segment, let name = capture.type {
        resolved.append(try types.type(named: name, in: pattern))
      } else {
        resolved.append(nil)
      }
    }
    var node = roots[root] ?? make()
    roots[root] = node
    var names: [String] = []
    for (segment, type) in zip(segments, resolved) {
      switch segment {
      case .literal(let literal):
        node = child(of: node, literal: literal)
      case .capture(let capture):
        names.append(capture.name)
        node = child(of: node, capture: capture, type: type)
      case .rest(let rest):
        names.append(rest.name)
        let ending = Ending(route: route, priority: priority, names: names)
        return rest.isPath
          ? Self.add(ending, to: &nodes[node].paths) : Self.add(ending, to: &nodes[node].rests)
      }
    }
    return Self.add(
      Ending(route: route, priority: priority, names: names), to: &nodes[node].ends)
  }

  private static func add(_ ending: Ending, to endings: inout [Ending]) -> Route.ID? {
    if let same = endings.first(where: { $0.priority == ending.priority }) { return same.route }
    let index = endings.firstIndex { $0.priority < ending.priority } ?? endings.count
    endings.insert(ending, at: index)
    return nil
  }

  private mutating func make() -> Int {
    if let node = free.popLast() { return node }
    nodes.append(Node())
    return nodes.count - 1
  }

  private mutating func child(of node: Int, literal: String) -> Int {
    if let child = nodes[node].literals[literal] { return child }
    let child = make()
    nodes[node].literals[literal] = child
    return child
  }

  private mutating func child(
    of node: Int, capture: RoutePattern.Capture, type: SegmentTypes.SegmentType?
  ) -> Int {
    var edge = Edge(prefix: capture.prefix, suffix: capture.suffix, type: type, child: 0)
    if let same = nodes[node].edges.first(where: { $0.order == edge.order }) { return same.child }
    edge.child = make()
    let index = nodes[node].edges.firstIndex { edge.order < $0.order } ?? nodes[node].edges.count
    nodes[node].edges.insert(edge, at: index)
    return edge.child
  }

  /// Takes a route out of one form of its pattern, and what only it needed.
  mutating func remove(_ route: Route.ID, segments: [RoutePattern.Segment], root: Root) {
    guard let start = roots[root] else { return }
    var path: [(parent: Int, segment: RoutePattern.Segment)] = []
    var node = start
    for segment in segments {
      if case .rest = segment { break }
      guard let next = find(segment, under: node) else { return }
      path.append((node, segment))
      node = next
    }
    nodes[node].ends.removeAll { $0.route == route }
    nodes[node].paths.removeAll { $0.route == route }
    nodes[node].rests.removeAll { $0.route == route }
    while let (parent, segment) = path.popLast(), nodes[node].isEmpty {
      switch segment {
      case .literal(let literal): nodes[parent].literals[literal] = nil
      case .capture, .rest: nodes[parent].edges.removeAll { $0.child == node }
      }
      release(node)
      node = parent
    }
    if node == start, nodes[node].isEmpty {
      roots[root] = nil
      release(node)
    }
  }

  private mutating func release(_ node: Int) {
    nodes[node] = Node()
    free.append(node)
  }

  private func find(_ segment: RoutePattern.Segment, under node: Int) -> Int? {
    switch segment {
    case .literal(let literal): return nodes[node].literals[literal]
    case .capture(let capture):
      return nodes[node].edges.first {
        $0.prefix == capture.prefix && $0.suffix == capture.suffix
          && $0.type?.name == capture.type.map(SegmentTypes.key)
      }?.child
    case .rest: return nil
    }
  }
}
