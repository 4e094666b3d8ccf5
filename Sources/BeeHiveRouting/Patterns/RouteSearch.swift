/// The values that the path of a URL gives by a pattern, in the order of its segments.
typealias PathValues = [(name: String, value: any URLConvertible)]

/// A path that leads to the end of a call, decoded, its host the first segment: by a scheme, or by any. It is one text behind
/// the segments before `tail`. `types` are those that whole segments have, by index. The URL is nil for the names of an action.
typealias ResolvedPath = (
  scheme: String?, segments: [String], types: [Int: SegmentTypes.SegmentType], tail: Int,
  url: URLText?
)

/// Segments that a route has types for, as these write them, and the first segment of a `Path`. A type is nil where there is
/// text around the value.
typealias Reading = (
  typed: [(index: Int, text: String, type: SegmentTypes.SegmentType?)], tail: Int?
)

/// Finds every route that a URL meets, the best one first.
///
/// Segment by segment from the left: a literal beats a parameter with text around it, that beats a typed
/// one, that a plain one, that what takes all the rest. A larger priority beats all of this.
struct RouteSearch {
  /// A route or rule whose whole pattern a URL meets, the values that its path gives, and how it has read the path.
  typealias Match = (number: UInt64, priority: Int, values: PathValues, reading: Reading)

  /// Nil for the names of an action.
  private let url: URLText?
  private let ignoringTypes: Bool
  /// Whether a `Path` takes encoded slashes, and what leads up: a rule judges them wherever a route may take them.
  private let isOfRules: Bool
  /// The path, behind the host if the patterns begin with one.
  private var segments: [String] = []
  /// The literals of the first segment: of a host its keys, with the port and without.
  private var heads: [String] = []
  private var values: [any URLConvertible] = []
  private var typed: [(index: Int, text: String, type: SegmentTypes.SegmentType?)] = []
  /// The types that a route has read segments as, of a resolved path.
  private var types: [Int: SegmentTypes.SegmentType] = [:]
  /// The first segment of a resolved path that is as the URL has it; nil for all of it.
  private var tail: Int?
  private var matches: [Match] = []
  /// The nodes that were looked at.
  private var visits = 0

  /// The matches among the routes of the URL's scheme, then among those of any scheme.
  static func matches(
    of url: URLText, in tree: RouteTree, ignoringTypes: Bool = false
  ) -> [Match] {
    var search = RouteSearch(url: url, ignoringTypes: ignoringTypes, isOfRules: false)
    search.visit(tree)
    guard search.matches.count > 1 else { return search.matches }
    // An optional part may bring a route to two ends; the better form came first.
    var seen: Set<UInt64> = []
    return search.matches.filter { seen.insert($0.number).inserted }.enumerated()
      .sorted { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }
      .map(\.element)
  }

  /// The rules that a URL meets as it is spelled, those of each form, and how many nodes were looked at.
  static func rules(met url: URLText, in tree: RouteTree) -> (matches: [Match], visits: Int) {
    var search = RouteSearch(url: url, ignoringTypes: false, isOfRules: true)
    search.visit(tree)
    return (search.matches, search.visits)
  }

  /// The rules that a resolved path meets, its first segment as a host or as a segment.
  static func rules(
    met path: ResolvedPath, in tree: RouteTree
  ) -> (matches: [Match], visits: Int) {
    var search = RouteSearch(url: path.url, ignoringTypes: false, isOfRules: true)
    let name = path.segments.first
    var hosts = name.map { Set(Host.keys(ofName: $0) + Host.keys(ofName: $0.composedText)) } ?? []
    if let url = path.url, let port = url.port ?? SchemeRules(scheme: url.scheme).defaultPort {
      hosts.formUnion(hosts.map { "\($0):\(port)" })
    }
    // A host that is no plain name stands before the path.
    let isHost = name?.isPlainHost == false
    tree.forEachRoot(of: path.scheme) { root, isAbsolute in
      let skipped = isHost && !isAbsolute ? 1 : 0
      search.segments = Array(path.segments.dropFirst(skipped))
      search.types = [:]
      for (index, type) in path.types { search.types[index - skipped] = type }
      search.tail = path.tail - skipped
      search.heads = isAbsolute ? Array(hosts) : Array(search.segments.prefix(1))
      search.visit(root, 0)
    }
    return (search.matches, search.visits)
  }

  private mutating func visit(_ tree: RouteTree) {
    tree.forEachRoot(of: url?.scheme) { root, isAbsolute in
      if isAbsolute {
        visit(root, host: url?.hostSegment, heads: [url?.hostKeyWithPort, url?.hostKey])
      } else {
        visit(root, host: url?.plainHost, heads: [url?.plainHost ?? url?.path.first])
      }
    }
  }

  private mutating func visit(_ root: RouteTree.Node, host: String?, heads: [String?]) {
    segments = (host.map { [$0] } ?? []) + (url?.path ?? [])
    self.heads = heads.compactMap { $0 }
    visit(root, 0)
  }

  private mutating func visit(_ node: RouteTree.Node, _ depth: Int) {
    visits += 1
    guard depth < segments.count else {
      add(node, .exact, from: depth)
      add(node, .rest, from: depth)
      return
    }
    for literal in literals(of: node, at: depth) {
      if let child = node.literals[literal] { visit(child, depth + 1) }
    }
    let edges = node.edges.edges(for: segments[depth])
    for index in edges.indices {
      guard let value = value(at: depth, of: edges[index]) else { continue }
      let known = typed.count
      if edges[index].type != nil, !isOfRules, !ignoringTypes {
        let frame = edges[index].frame
        let type = frame == RouteEdges.Frame() ? edges[index].type : nil
        typed.append((depth, frame.prefix + value.urlText + frame.suffix, type))
      }
      values.append(value)
      visit(edges[index].node, depth + 1)
      values.removeLast()
      typed.removeLast(typed.count - known)
    }
    add(node, .path, from: depth)
    add(node, .rest, from: depth)
  }

  /// The literals of a node that a segment means: itself, and those that its type reads as the same value.
  private func literals(of node: RouteTree.Node, at depth: Int) -> ArraySlice<String> {
    let literals = depth == 0 ? heads[...] : segments[depth...depth]
    guard let type = types[depth], let value = segments[depth].writtenValue else { return literals }
    let same = node.spellings[value] ?? []
    return literals
      + same.filter { !literals.contains($0) && type.convert($0)?.urlText == segments[depth] }
  }

  /// The value of a segment that has the edge's frame; nil where it is none of the type.
  private func value(at depth: Int, of edge: RouteEdges.Edge) -> (any URLConvertible)? {
    let segment = segments[depth]
    let frame = edge.frame
    let text =
      frame == RouteEdges.Frame()
      ? segment : String(segment.dropFirst(frame.prefix.count).dropLast(frame.suffix.count))
    guard let type = edge.type, !ignoringTypes else { return text }
    // An Int may be meant where the route has a Double or a Bool.
    return type.convert(text)
      ?? types[depth].flatMap { _ in text.wholeNumber.flatMap(type.convert) }
  }

  /// Adds the endings of a node that take so much of the path from a segment on.
  private mutating func add(_ node: RouteTree.Node, _ extent: RouteTree.Extent, from depth: Int) {
    for ending in node.endings where ending.extent == extent {
      var values = values
      switch extent {
      case .exact: break
      case .path:
        // A slash that is encoded could not be told from one that is not: rules would judge another path.
        let text = path(from: depth)
        if !isOfRules,
          text.climbs
            || segments[depth...].contains(where: { $0.utf8.contains(UInt8(ascii: "/")) })
        {
          continue
        }
        values.append(text)
      case .rest: values.append(Array(segments[depth...]))
      }
      matches.append(
        (
          ending.number, ending.priority, Array(zip(ending.names, values)),
          (typed, extent == .path ? depth : nil)
        ))
    }
  }

  /// The rest of the path, as the URL has it.
  private func path(from depth: Int) -> String {
    let tail = max(depth, tail ?? 0)
    guard let url, tail < segments.count else { return segments[depth...].joined(separator: "/") }
    let host = segments.count - url.path.count
    let rest = tail < host ? segments[0] + url.pathBehindHost : url.pathTail(from: tail - host)
    return (segments[depth..<tail] + [rest]).joined(separator: "/")
  }
}

extension RoutePattern {
  /// The path of a URL that the pattern matches, behind the host; as a pattern of paths has it, behind any host and behind that
  /// of the URL. A segment that the pattern has a type for is written as the type writes its value: `7` for `07`.
  func paths(of url: URLText, _ reading: Reading) -> [ResolvedPath] {
    let host = isAbsolute ? url.hostSegment : url.plainHost
    var segments = (host.map { [$0] } ?? []) + url.path
    var types: [Int: SegmentTypes.SegmentType] = [:]
    for (index, text, type) in reading.typed { (segments[index], types[index]) = (text, type) }
    let path: ResolvedPath = (scheme, segments, types, reading.tail ?? segments.count, url)
    if isAbsolute {
      return [path]
        + hosts(for: url).filter { $0 != host }.map { name in
          (scheme, [name] + segments.dropFirst(), types, path.tail, url)
        }
    }
    guard host == nil, let host = url.hostSegment else { return [path] }
    let behind = Dictionary(uniqueKeysWithValues: types.map { ($0 + 1, $1) })
    return [path, (scheme, [host] + segments, behind, path.tail + 1, url)]
  }
}

extension String {
  /// The same for all texts that a type of segments may read as one value; nil for others than numbers, truth values and UUIDs.
  var writtenValue: String? {
    UUIDValue(urlText: self)?.urlText ?? Double(urlText: self)?.description
      ?? Bool(urlText: self).map { $0 ? "1.0" : "0.0" }
  }

  /// The digits of a whole number or a truth value.
  fileprivate var wholeNumber: String? {
    writtenValue.flatMap { Double($0) }.flatMap { Int(exactly: $0) }.map(String.init)
  }

  /// Whether a path of its text leads out of where it begins: slashes that were encoded count here.
  var climbs: Bool {
    utf8.first == UInt8(ascii: "/")
      || utf8.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
        .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
  }
}
