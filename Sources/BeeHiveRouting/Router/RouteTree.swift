internal import Registration

/// What is found by URLs, by the segments of its patterns: the routes of a router, the rules of a table.
///
/// Matching looks at the branches that a URL can take, not at the patterns. Copies share what they have in
/// common: a match holds one, and a registration meanwhile copies the nodes on its path alone.
struct RouteTree: Sendable {
  /// Which patterns a URL may meet: those of its scheme or of any, with a host or without.
  struct Root: Hashable {
    var scheme: String?
    var isAbsolute: Bool
  }

  /// What ends at a node, with the names of what its path gave values to.
  struct Ending: Sendable {
    /// The number of the route or rule.
    var number: UInt64
    var priority: Int
    var names: [String]
  }

  struct Node: Sendable {
    var literals = HashTrie<String, Node>()
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

  private(set) var roots = HashTrie<Root, Node>()

  /// One form of a pattern, the types that it names looked up.
  struct Form {
    fileprivate struct Step {
      var segment: PatternSegment
      var type: SegmentTypes.SegmentType?
    }

    fileprivate let root: Root
    fileprivate let steps: [Step]
    fileprivate let names: [String]

    /// Throws where the form names a type that is not defined.
    init(
      _ segments: [PatternSegment], of pattern: RoutePattern, types: SegmentTypes
    ) throws(RoutingError) {
      root = pattern.root
      names = RoutePattern.names(in: segments)
      steps = try segments.map { segment throws(RoutingError) in
        guard case .capture(let capture) = segment, let name = capture.type else {
          return Step(segment: segment)
        }
        return Step(segment: segment, type: try types.type(named: name, in: pattern.text))
      }
    }
  }

  /// Puts a route or rule at the end of a form of its pattern.
  ///
  /// Returns the one that has this end and this priority already, and then puts nothing there, unless
  /// several may share an end.
  mutating func insert(
    _ number: UInt64, priority: Int, at form: Form, sharing: Bool = false
  ) -> UInt64? {
    let ending = Ending(number: number, priority: priority, names: form.names)
    return roots.change(form.root) { node in
      var root = node.take() ?? Node()
      defer { node = root.isEmpty ? nil : root }
      return root.insert(ending, at: form.steps[...], sharing: sharing)
    }
  }

  /// Takes a route or rule out of one form of its pattern, and what only it needed.
  mutating func remove(_ number: UInt64, at segments: [PatternSegment], of root: Root) {
    roots.change(root) { node in
      guard var root = node.take() else { return }
      root.remove(number, at: segments[...])
      node = root.isEmpty ? nil : root
    }
  }

  /// The routes or rules that end at one form of a pattern, or have it and whatever follows.
  func numbers(at segments: [PatternSegment], of root: Root) -> [UInt64] {
    roots[root]?.numbers(at: segments[...]) ?? []
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

extension RoutePattern {
  /// Which part of a tree its forms are in.
  var root: RouteTree.Root { RouteTree.Root(scheme: scheme, isAbsolute: isAbsolute) }
}

extension RouteTree.Node {
  fileprivate mutating func insert(
    _ ending: RouteTree.Ending, at steps: ArraySlice<RouteTree.Form.Step>, sharing: Bool
  ) -> UInt64? {
    guard let step = steps.first else { return Self.add(ending, to: &ends, sharing) }
    let rest = steps.dropFirst()
    switch step.segment {
    case .literal(let literal):
      return literals.change(literal) { node in
        var child = node.take() ?? Self()
        defer { node = child.isEmpty ? nil : child }
        return child.insert(ending, at: rest, sharing: sharing)
      }
    case .capture(let capture):
      return edges.change(capture, of: step.type) { $0.insert(ending, at: rest, sharing: sharing) }
    case .rest(let rest):
      return rest.isPath
        ? Self.add(ending, to: &paths, sharing) : Self.add(ending, to: &rests, sharing)
    }
  }

  private static func add(
    _ ending: RouteTree.Ending, to endings: inout [RouteTree.Ending], _ sharing: Bool
  ) -> UInt64? {
    // Behind those of the same priority.
    let index = endings.partitioningIndex(where: { $0.priority < ending.priority })
    if !sharing, index > 0, endings[index - 1].priority == ending.priority {
      return endings[index - 1].number
    }
    endings.insert(ending, at: index)
    return nil
  }

  fileprivate mutating func remove(
    _ number: UInt64, at segments: ArraySlice<PatternSegment>
  ) {
    switch segments.first {
    case .literal(let literal):
      literals.change(literal) { node in
        guard var child = node.take() else { return }
        child.remove(number, at: segments.dropFirst())
        node = child.isEmpty ? nil : child
      }
    case .capture(let capture):
      edges.change(capture) { $0.remove(number, at: segments.dropFirst()) }
    case .rest(let rest):
      if rest.isPath {
        paths.removeAll { $0.number == number }
      } else {
        rests.removeAll { $0.number == number }
      }
    case nil: ends.removeAll { $0.number == number }
    }
  }

  /// The numbers of what ends at a form, whatever may follow there.
  fileprivate func numbers(at segments: ArraySlice<PatternSegment>) -> [UInt64] {
    let next: RouteTree.Node?
    switch segments.first {
    case .literal(let literal): next = literals[literal]
    case .capture(let capture): next = edges.node(of: capture)
    case .rest, nil: return (ends + paths + rests).map(\.number)
    }
    return next?.numbers(at: segments.dropFirst()) ?? []
  }
}
