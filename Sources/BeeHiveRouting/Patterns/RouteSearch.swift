/// The values that the path of a URL gives by a pattern, in the order of its segments.
typealias PathValues = [(name: String, value: any URLConvertible)]

/// The segments that a route has types for, as the types write them, and the first segment of a `Path`. A type is nil
/// if there is text around the value.
typealias Reading = (
  typed: [(index: Int, text: String, type: SegmentTypes.SegmentType?)], tail: Int?
)

/// Finds every route that a URL meets, the best one first.
///
/// Segment by segment from the left. A literal comes first, then a parameter with text around it, a typed one,
/// a plain one, and the rest of the path. A larger priority beats all of this.
struct RouteSearch {
  /// A route or rule whose whole pattern a URL meets, with the values of the URL's path and their reading.
  typealias Match = (number: UInt64, priority: Int, values: PathValues, reading: Reading)

  /// The URL; nil for the names of an action.
  private let url: URLText?
  private let ignoringTypes: Bool
  /// Whether a `Path` takes encoded slashes and ways up. Rules judge them wherever a route may take them.
  private let isOfRules: Bool
  /// The literals of the first segment; for a host its keys, with the port and without.
  private let heads: [String]
  /// The host, if it counts as a segment, then the path.
  private let segments: [String]
  /// The types that a route has read the segments of a resolved path as.
  private var types: [Int: SegmentTypes.SegmentType] = [:]
  /// The first segment of a resolved path that is as the URL has it; nil for the whole path.
  private var tail: Int?
  private var values: [any URLConvertible] = []
  private var typed: [(index: Int, text: String, type: SegmentTypes.SegmentType?)] = []

  /// The matches, and the number of visited nodes.
  typealias Found = (matches: [Match], visits: Int)

  /// Returns the matches among the routes of the URL's scheme, then among those of any scheme.
  static func matches(
    of url: URLText, in tree: RouteTree, ignoringTypes: Bool = false
  ) -> [Match] {
    let (matches, _) = found(by: url, in: tree, ignoringTypes: ignoringTypes, isOfRules: false)
    guard matches.count > 1 else { return matches }
    // An optional part may bring a route to two ends; the better form came first.
    var seen: Set<UInt64> = []
    return matches.filter { seen.insert($0.number).inserted }.enumerated()
      .sorted { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }
      .map(\.element)
  }

  /// Returns the rules that a URL meets as it is spelled, once for each form.
  static func rules(met url: URLText, in tree: RouteTree) -> Found {
    found(by: url, in: tree, ignoringTypes: false, isOfRules: true)
  }

  /// Returns the rules that a resolved path of a URL meets, its first segment as a host or as a segment. The URL is nil
  /// for the names of an action.
  static func rules(met path: ResolvedPath, of url: URLText?, in tree: RouteTree) -> Found {
    var found: Found = ([], 0)
    tree.forEachRoot(of: path.scheme) { root, isAbsolute in
      let path = isAbsolute ? path : path.ofPaths
      let heads = isAbsolute ? path.hosts(of: url) : path.first.map { [$0] } ?? []
      found.visits += 1
      guard path.isTyped || root.leadsOn(by: heads) else { return }
      var search = RouteSearch(
        url: url, ignoringTypes: false, isOfRules: true, heads: heads, segments: path.segments)
      (search.types, search.tail) = (path.types, path.tail)
      search.visit(root, 0, into: &found)
    }
    return found
  }

  private static func found(
    by url: URLText, in tree: RouteTree, ignoringTypes: Bool, isOfRules: Bool
  ) -> Found {
    var found: Found = ([], 0)
    tree.forEachRoot(of: url.scheme) { root, isAbsolute in
      let host = isAbsolute ? url.hostSegment : url.plainHost
      let heads = (isAbsolute ? [url.hostKeyWithPort, url.hostKey] : [host ?? url.path.first])
        .compactMap { $0 }
      found.visits += 1
      guard root.leadsOn(by: heads) else { return }
      let segments = (host.map { [$0] } ?? []) + url.path
      var search = RouteSearch(
        url: url, ignoringTypes: ignoringTypes, isOfRules: isOfRules, heads: heads,
        segments: segments)
      search.visit(root, 0, into: &found)
    }
    return found
  }

  private mutating func visit(_ node: RouteTree.Node, _ depth: Int, into found: inout Found) {
    found.visits += 1
    guard depth < segments.count else {
      add(node, .exact, from: depth, to: &found)
      add(node, .rest, from: depth, to: &found)
      return
    }
    for literal in literals(of: node, at: depth) {
      if let child = node.literals[literal] { visit(child, depth + 1, into: &found) }
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
      visit(edges[index].node, depth + 1, into: &found)
      values.removeLast()
      typed.removeLast(typed.count - known)
    }
    add(node, .path, from: depth, to: &found)
    add(node, .rest, from: depth, to: &found)
  }

  /// Returns the literals of a node that a segment means: its text, and those that its type reads as the same value.
  private func literals(of node: RouteTree.Node, at depth: Int) -> ArraySlice<String> {
    let literals = depth == 0 ? heads[...] : segments[depth...depth]
    guard let type = types[depth], let value = segments[depth].writtenValue else { return literals }
    let same = node.spellings[value] ?? []
    return literals
      + same.filter { !literals.contains($0) && type.convert($0)?.urlText == segments[depth] }
  }

  /// Returns the value of a segment that has the edge's frame; nil if it is not of the type.
  private func value(at depth: Int, of edge: RouteEdges.Edge) -> (any URLConvertible)? {
    let segment = segments[depth]
    let frame = edge.frame
    let text =
      frame == RouteEdges.Frame()
      ? segment : String(segment.dropFirst(frame.prefix.count).dropLast(frame.suffix.count))
    guard let type = edge.type, !ignoringTypes else { return text }
    // A rule's Int may be meant if the route has a Double or a Bool.
    return type.convert(text)
      ?? types[depth].flatMap { _ in text.wholeNumber.flatMap(type.convert) }
  }

  /// Adds the endings of a node that take this extent of the path, from a segment on.
  private func add(
    _ node: RouteTree.Node, _ extent: RouteTree.Extent, from depth: Int, to found: inout Found
  ) {
    for ending in node.endings where ending.extent == extent {
      var values = values
      switch extent {
      case .exact: break
      case .path:
        // An encoded slash would look like a plain one, so rules would judge another path.
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
      found.matches.append(
        (
          ending.number, ending.priority, Array(zip(ending.names, values)),
          (typed, extent == .path ? depth : nil)
        ))
    }
  }

  /// Returns the rest of the path, as the URL has it.
  private func path(from depth: Int) -> String {
    let tail = max(depth, tail ?? 0)
    guard let url, tail < segments.count else { return segments[depth...].joined(separator: "/") }
    let host = segments.count - url.path.count
    let rest = tail < host ? segments[0] + url.pathBehindHost : url.pathTail(from: tail - host)
    return (segments[depth..<tail] + [rest]).joined(separator: "/")
  }
}

extension RouteTree.Node {
  /// Returns whether the node leads on for a first segment of these literals, or is an end.
  fileprivate func leadsOn(by heads: [String]) -> Bool {
    !edges.isEmpty || !endings.isEmpty || heads.contains { literals[$0] != nil }
  }
}

/// A decoded path that leads to the end of a call: that of its URL as a route reads it, or the names of an action.
struct ResolvedPath: Equatable {
  /// The scheme that leads there; nil for any.
  let scheme: String?
  /// The first segment, if it is a host or may be one.
  private var host: String?
  private let path: [String]
  private var reading: Reading
  /// The number that is added to the indices of `reading`.
  private var shift = 0

  /// The path of an action by its names.
  init(target: String, action: String) {
    (scheme, host, path, reading) = (nil, target, [action], ([], nil))
  }

  fileprivate init(
    _ scheme: String?, _ host: String?, _ path: [String], _ reading: Reading, shift: Int = 0
  ) {
    (self.scheme, self.host, self.path) = (scheme, host, path)
    (self.reading, self.shift) = (reading, shift)
  }

  var first: String? { text(at: 0) ?? host ?? path.first }

  /// Whether the first segment may be written in another way, as its type reads it.
  var isTyped: Bool { text(at: 0) != nil }

  /// The segments, with the host first. A segment that the route has a type for is written as the type writes its
  /// value: `7` for `07`.
  var segments: [String] {
    var segments = (host.map { [$0] } ?? []) + path
    for index in segments.indices { segments[index] = text(at: index) ?? segments[index] }
    return segments
  }

  /// The types that whole segments have, by index.
  var types: [Int: SegmentTypes.SegmentType] {
    reading.typed.reduce(into: [:]) { $0[$1.index + shift] = $1.type }
  }

  /// The index of the first segment that is as the URL has it, with the slashes after it.
  var tail: Int { reading.tail.map { $0 + shift } ?? path.count + (host == nil ? 0 : 1) }

  /// The path as a pattern of paths meets it. A host that is not a plain name is left out.
  var ofPaths: ResolvedPath {
    guard let host, !(text(at: 0) ?? host).isPlainHost else { return self }
    var path = self
    (path.host, path.shift) = (nil, shift - 1)
    return path
  }

  /// Returns the keys of the hosts that the first segment may be, with the port of the URL and without.
  func hosts(of url: URLText?) -> [String] {
    guard let first else { return [] }
    var keys = Host.keys(ofName: first, scheme: scheme)
    if !first.utf8.allSatisfy({ $0 < 0x80 }) {
      keys += Host.keys(ofName: first.composedText, scheme: scheme)
    }
    guard let url, let port = url.port ?? SchemeRules(scheme: url.scheme).defaultPort else {
      return keys
    }
    return keys + keys.map { "\($0):\(port)" }
  }

  /// Returns the segment at an index as its type writes it; nil if the route has no type for it.
  private func text(at index: Int) -> String? {
    reading.typed.last { $0.index + shift == index }?.text
  }

  static func == (first: Self, second: Self) -> Bool {
    (first.scheme, first.host, first.path, first.shift, first.reading.tail)
      == (second.scheme, second.host, second.path, second.shift, second.reading.tail)
      && first.reading.typed.elementsEqual(second.reading.typed) {
        ($0.index, $0.text, $0.type?.number) == ($1.index, $1.text, $1.type?.number)
      }
  }
}

extension RoutePattern {
  /// Returns the paths of a URL that the pattern matches, after the host. For a pattern of paths, the path follows any
  /// host, and also the host of the URL.
  func paths(of url: URLText, _ reading: Reading) -> [ResolvedPath] {
    guard isAbsolute else {
      let path = ResolvedPath(scheme, url.plainHost, url.path, reading)
      guard url.plainHost == nil, let host = url.hostSegment else { return [path] }
      return [path, ResolvedPath(scheme, host, url.path, reading, shift: 1)]
    }
    // Without a host the first segment counts as one.
    let host = url.hostSegment
    let behind = host == nil ? Array(url.path.dropFirst()) : url.path
    let names = scheme == nil ? hosts(for: url).filter { $0 != host } : []
    return ([host ?? url.path.first] + names).map { ResolvedPath(scheme, $0, behind, reading) }
  }
}

extension String {
  /// The same text for all texts that a type may read as one value; nil unless it is a number, a truth value or a UUID.
  var writtenValue: String? {
    UUIDValue(urlText: self)?.urlText ?? Double(urlText: self)?.description
      ?? Bool(urlText: self).map { $0 ? "1.0" : "0.0" }
  }

  /// The digits of a whole number or a truth value.
  fileprivate var wholeNumber: String? {
    writtenValue.flatMap { Double($0) }.flatMap { Int(exactly: $0) }.map(String.init)
  }

  /// Whether the text, as a path, leads out of where it begins. Slashes that were encoded count here.
  var climbs: Bool {
    utf8.first == UInt8(ascii: "/")
      || utf8.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
        .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
  }
}
