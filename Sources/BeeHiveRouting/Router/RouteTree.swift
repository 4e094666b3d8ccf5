/// What is found by URLs, by the segments of its patterns: the routes of a router, the rules of a table.
///
/// Matching looks at the branches that a URL can take, not at the patterns. A match holds a copy, so the first
/// registration meanwhile copies the dictionaries on its path.
struct RouteTree: Sendable {
  /// Which patterns a URL may meet: those of its scheme or of any, with a host or without.
  struct Root: Hashable {
    var scheme: String?
    var isAbsolute: Bool
  }

  /// A route or rule that ends at a node, with the names of what its path gave values to.
  typealias Ending = (number: UInt64, priority: Int, names: [String])

  struct Node: Sendable {
    var literals: [String: Node] = [:]
    var edges = RouteEdges()
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

  private(set) var roots: [Root: Node] = [:]

  /// One form of a pattern: the way to a node, and which of its endings it is.
  struct Form: Sendable {
    fileprivate enum Step: Sendable {
      case literal(String)
      case parameter(RouteEdges.Frame, SegmentTypes.SegmentType?)
    }

    fileprivate let root: Root
    fileprivate let names: [String]
    private(set) fileprivate var steps: [Step] = []
    private(set) fileprivate var endings: any WritableKeyPath<Node, [Ending]> & Sendable =
      \.ends

    /// Throws where the form names a type that is not defined.
    init(
      _ segments: [PatternSegment], of pattern: RoutePattern, types: SegmentTypes
    ) throws(RoutingError) {
      root = RouteTree.Root(scheme: pattern.scheme, isAbsolute: pattern.isAbsolute)
      names = RoutePattern.names(in: segments)
      for segment in segments {
        switch segment {
        case .literal(let literal): steps.append(.literal(literal))
        case .capture(let capture):
          let type = try capture.type.map { name throws(RoutingError) in
            try types.type(named: name, in: pattern.text)
          }
          steps.append(.parameter(capture.frame, type))
        case .rest(let rest): endings = rest.isPath ? \.paths : \.rests
        }
      }
    }
  }

  /// Inserts a route or rule at the end of a form of its pattern.
  ///
  /// Where another ends there with the same priority, inserts nothing and returns its number. With `sharing`
  /// it always inserts, and returns nil.
  mutating func insert(
    _ number: UInt64, priority: Int, at form: Form, sharing: Bool = false
  ) -> UInt64? {
    var taken: UInt64?
    change(form) { node in
      // Behind those of the same priority.
      let before = node[keyPath: form.endings].lastIndex { $0.priority >= priority }
      if !sharing, let before, node[keyPath: form.endings][before].priority == priority {
        taken = node[keyPath: form.endings][before].number
        return
      }
      let ending = (number, priority, form.names)
      node[keyPath: form.endings].insert(ending, at: before.map { $0 + 1 } ?? 0)
    }
    return taken
  }

  /// Takes a route or rule out of one form of its pattern, and what only it needed.
  mutating func remove(_ number: UInt64, at form: Form) {
    change(form) { node in node[keyPath: form.endings].removeAll { $0.number == number } }
  }

  /// The routes or rules that end at one form of a pattern, or have it and whatever follows.
  func numbers(at form: Form) -> [UInt64] {
    var node = roots[form.root]
    for step in form.steps {
      switch step {
      case .literal(let literal): node = node?.literals[literal]
      case .parameter(let frame, let type): node = node?.edges.node(of: frame, type)
      }
    }
    return node.map { ($0.ends + $0.paths + $0.rests).map(\.number) } ?? []
  }

  /// Changes the node that a form leads to.
  private mutating func change(_ form: Form, _ change: (inout Node) -> Void) {
    Node.change(&roots[form.root]) { $0.change(at: form.steps[...], change) }
  }
}

extension RouteTree {
  /// A tree of one pattern.
  init(of pattern: RoutePattern, types: SegmentTypes) throws(RoutingError) {
    for variant in pattern.variants {
      _ = insert(0, priority: 0, at: try Form(variant, of: pattern, types: types))
    }
  }
}

extension RouteTree.Node {
  /// Changes a node, which is made where there is none, and taken out where it is left empty.
  fileprivate static func change(_ place: inout Self?, _ change: (inout Self) -> Void) {
    var node = place.take() ?? Self()
    change(&node)
    place = node.isEmpty ? nil : node
  }

  /// Changes the node to which steps lead from this one.
  fileprivate mutating func change(
    at steps: ArraySlice<RouteTree.Form.Step>, _ change: (inout Self) -> Void
  ) {
    let rest = steps.dropFirst()
    switch steps.first {
    case nil: change(&self)
    case .literal(let literal):
      Self.change(&literals[literal]) { $0.change(at: rest, change) }
    case .parameter(let frame, let type):
      edges.change(frame, type) { $0.change(at: rest, change) }
    }
  }
}
