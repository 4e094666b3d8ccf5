/// What is found by URLs, by the segments of its patterns: the routes of a router, the rules of a table.
///
/// Matching looks at the branches that a URL can take, not at the patterns. A match holds a copy, so the first
/// registration meanwhile copies the dictionaries on its path.
struct RouteTree: Sendable {
  /// A route or rule that ends at a node, with the names of what its path gave values to.
  typealias Ending = (number: UInt64, priority: Int, names: [String])

  struct Node: Sendable {
    var literals: [String: Node] = [:]
    var edges = RouteEdges()
    /// Those whose pattern ends here.
    var ends: [Ending] = []
    /// Those that take what is left, at least one segment, as one text.
    var paths: [Ending] = []
    /// Those that take what is left, if anything.
    var rests: [Ending] = []

    var isEmpty: Bool {
      literals.isEmpty && edges.isEmpty && ends.isEmpty && paths.isEmpty && rests.isEmpty
    }

    /// Changes a node, which is made where there is none, and taken out where it is left empty.
    fileprivate static func change(_ place: inout Self?, _ change: (inout Self) -> Void) {
      var node = place.take() ?? Self()
      change(&node)
      place = node.isEmpty ? nil : node
    }

    /// Changes the node to which steps lead from this one.
    fileprivate mutating func change(
      at steps: ArraySlice<(segment: PatternSegment, type: SegmentTypes.SegmentType?)>,
      _ change: (inout Self) -> Void
    ) {
      let rest = steps.dropFirst()
      switch steps.first {
      case nil, (.rest, _)?: change(&self)
      case (.literal(let literal), _)?:
        Self.change(&literals[literal]) { $0.change(at: rest, change) }
      case (.capture(let capture), let type)?:
        edges.change(capture.frame, type) { $0.change(at: rest, change) }
      }
    }
  }

  /// The patterns with a host, by their scheme; nil for any.
  private(set) var hosts: [String?: Node] = [:]
  /// The patterns of paths, by their scheme; nil for any.
  private(set) var paths: [String?: Node] = [:]

  /// One form of a pattern: the way to a node, and which of its endings it is.
  struct Form: Sendable {
    fileprivate let scheme: String?
    fileprivate let isAbsolute: Bool
    fileprivate let names: [String]
    fileprivate let steps: [(segment: PatternSegment, type: SegmentTypes.SegmentType?)]
    fileprivate let endings: any WritableKeyPath<Node, [Ending]> & Sendable

    /// Throws where the form names a type that is not defined.
    init(
      _ segments: [PatternSegment], of pattern: RoutePattern, types: SegmentTypes
    ) throws(RoutingError) {
      (scheme, isAbsolute) = (pattern.scheme, pattern.isAbsolute)
      names = RoutePattern.names(in: segments)
      steps = try segments.map { segment throws(RoutingError) in
        guard case .capture(let capture) = segment, let name = capture.type else {
          return (segment, nil)
        }
        return (segment, try types.type(named: name, in: pattern.text))
      }
      if case .rest(_, let isPath)? = segments.last {
        endings = isPath ? \.paths : \.rests
      } else {
        endings = \.ends
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
      if !sharing {
        taken = node[keyPath: form.endings].first { $0.priority == priority }?.number
      }
      if taken == nil { node[keyPath: form.endings].append((number, priority, form.names)) }
    }
    return taken
  }

  /// Takes a route or rule out of one form of its pattern, and what only it needed.
  mutating func remove(_ number: UInt64, at form: Form) {
    change(form) { node in node[keyPath: form.endings].removeAll { $0.number == number } }
  }

  /// The routes or rules that end at one form of a pattern, or have it and whatever follows.
  mutating func numbers(at form: Form) -> [UInt64] {
    var numbers: [UInt64] = []
    change(form) { node in numbers = (node.ends + node.paths + node.rests).map(\.number) }
    return numbers
  }

  /// Changes the node that a form leads to.
  private mutating func change(_ form: Form, _ change: (inout Node) -> Void) {
    if form.isAbsolute {
      Node.change(&hosts[form.scheme]) { $0.change(at: form.steps[...], change) }
    } else {
      Node.change(&paths[form.scheme]) { $0.change(at: form.steps[...], change) }
    }
  }
}

extension RouteTree {
  /// A tree of some forms of one pattern.
  init(
    of pattern: RoutePattern, _ variants: [[PatternSegment]], types: SegmentTypes
  ) throws(RoutingError) {
    for variant in variants {
      _ = insert(0, priority: 0, at: try Form(variant, of: pattern, types: types))
    }
  }
}
