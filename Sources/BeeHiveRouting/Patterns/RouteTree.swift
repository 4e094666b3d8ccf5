/// A tree of patterns by their segments, for a search by URLs: the routes of a router, the rules of a table.
///
/// Matching looks at the branches that a URL can take, not at the patterns. A match holds a copy, so the first
/// registration meanwhile copies the dictionaries on its path.
struct RouteTree: Sendable {
  /// A route or rule that ends at a node, with the names of its path's values.
  typealias Ending = (number: UInt64, priority: Int, extent: Extent, names: [String])

  /// The part of a URL's path that an ending takes after its node.
  enum Extent {
    /// Nothing: the pattern ends here.
    case exact
    /// All that is left, at least one segment, as one text.
    case path
    /// All that is left, if anything.
    case rest
  }

  struct Node: Sendable {
    var literals: [String: Node] = [:]
    /// The literals that stand for values of types, by the value.
    private(set) var spellings: [String: Set<String>] = [:]
    var edges = RouteEdges()
    var endings: [Ending] = []

    var isEmpty: Bool { literals.isEmpty && edges.isEmpty && endings.isEmpty }

    /// Changes a node. Makes it if it is missing, and removes it if it is left empty.
    fileprivate static func change(_ place: inout Self?, _ change: (inout Self) -> Void) {
      var node = place.take() ?? Self()
      change(&node)
      place = node.isEmpty ? nil : node
    }

    /// Changes the node that steps lead to from this one.
    fileprivate mutating func change(
      at steps: ArraySlice<(segment: PatternSegment, type: SegmentTypes.SegmentType?)>,
      _ change: (inout Self) -> Void
    ) {
      let rest = steps.dropFirst()
      switch steps.first {
      case nil, (.rest, _)?: change(&self)
      case (.literal(let literal), _)?:
        Self.change(&literals[literal]) { $0.change(at: rest, change) }
        guard let value = literal.writtenValue else { return }
        var others = spellings.removeValue(forKey: value) ?? []
        if literals[literal] == nil { others.remove(literal) } else { others.insert(literal) }
        if !others.isEmpty { spellings[value] = others }
      case (.capture(let capture), let type)?:
        edges.change(capture.frame, type) { $0.change(at: rest, change) }
      }
    }
  }

  /// The nodes where the patterns of a scheme begin, with a host and without, by the scheme; nil for any. Every call
  /// copies the tree, which copies only this.
  private var roots: [String?: (absolute: Node?, relative: Node?)] = [:]

  var isEmpty: Bool { roots.isEmpty }

  /// Visits the nodes where the patterns of a scheme begin, then those of any scheme: with a host and without.
  func forEachRoot(of scheme: String?, _ visit: (Node, _ isAbsolute: Bool) -> Void) {
    func visitRoots(of scheme: String?) {
      guard let (absolute, relative) = roots[scheme] else { return }
      if let absolute { visit(absolute, true) }
      if let relative { visit(relative, false) }
    }
    if scheme != nil { visitRoots(of: scheme) }
    visitRoots(of: nil)
  }

  /// One form of a pattern: the way to a node, and the extent of its ending there.
  struct Form: Sendable {
    fileprivate var scheme: String?
    fileprivate let isAbsolute: Bool
    fileprivate let names: [String]
    fileprivate let steps: [(segment: PatternSegment, type: SegmentTypes.SegmentType?)]
    let extent: Extent

    /// Throws if the form names a type that is not defined.
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
        extent = isPath ? .path : .rest
      } else {
        extent = .exact
      }
    }

    /// The same way for every scheme.
    var ofAnyScheme: Form {
      var form = self
      form.scheme = nil
      return form
    }
  }

  /// Inserts a route or rule at the end of a form of its pattern.
  mutating func insert(_ number: UInt64, priority: Int, at form: Form) {
    change(form) { $0.endings.append((number, priority, form.extent, form.names)) }
  }

  /// Removes a route or rule from one form of its pattern, with what only it needed.
  mutating func remove(_ number: UInt64, at form: Form) {
    change(form) { node in
      node.endings.removeAll { $0.number == number && $0.extent == form.extent }
    }
  }

  /// Returns the routes or rules that end at the node of a form, whatever their extent.
  mutating func endings(at form: Form) -> [Ending] {
    var endings: [Ending] = []
    change(form) { endings = $0.endings }
    return endings
  }

  /// Changes the node that a form leads to.
  private mutating func change(_ form: Form, _ change: (inout Node) -> Void) {
    // Removed meanwhile, so that a change in place copies nothing.
    var ends = roots.removeValue(forKey: form.scheme) ?? (nil, nil)
    func follow(_ node: inout Node) { node.change(at: form.steps[...], change) }
    if form.isAbsolute {
      Node.change(&ends.absolute, follow)
    } else {
      Node.change(&ends.relative, follow)
    }
    if ends.absolute != nil || ends.relative != nil { roots[form.scheme] = ends }
  }
}

extension RouteTree {
  /// A tree of some forms of one pattern.
  init(
    of pattern: RoutePattern, _ variants: [[PatternSegment]], types: SegmentTypes
  ) throws(RoutingError) {
    for variant in variants {
      insert(0, priority: 0, at: try Form(variant, of: pattern, types: types))
    }
  }
}
