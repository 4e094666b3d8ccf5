/// The parameters that a node of a `RouteTree` may take a segment for.
///
/// A segment has one frame of each length, which is looked up: thousands of `/v1-:id`, `/v2-:id` cost a match no
/// more than one.
struct RouteEdges: Sendable {
  /// The text around a value. It is compared and counted in characters, so that composed and decomposed ones are
  /// the same.
  struct Frame: Hashable, Sendable {
    var prefix: String
    var suffix: String

    var isEmpty: Bool { prefix.isEmpty && suffix.isEmpty }
  }

  /// An edge that takes a segment and gives a value.
  struct Edge: Sendable {
    let frame: Frame
    let type: SegmentTypes.SegmentType?
    var node = RouteTree.Node()

    /// Text around the value beats none, a type beats text, a narrow type beats a wide one.
    fileprivate var order: (Int, Int, String, String, String) {
      (
        -(frame.prefix.count + frame.suffix.count), type?.rank ?? 5, type?.name ?? "",
        frame.prefix, frame.suffix
      )
    }
  }

  /// The edges whose frames have these lengths.
  struct Framed: Sendable {
    let prefixCount: Int
    let suffixCount: Int
    var edges: [Frame: [Edge]] = [:]
  }

  /// Edges without text around the value, in the order in which they are tried.
  private var plain: [Edge] = []
  private(set) var framed: [Framed] = []

  var isEmpty: Bool { plain.isEmpty && framed.isEmpty }

  /// The edges that may take a segment by the text around its value, in the order in which they are tried.
  func edges(for segment: String) -> [Edge] {
    guard !framed.isEmpty else { return plain }
    let count = segment.count
    let found = framed.flatMap { framed -> [Edge] in
      guard count > framed.prefixCount + framed.suffixCount else { return [] }
      let frame = Frame(
        prefix: String(segment.prefix(framed.prefixCount)),
        suffix: String(segment.suffix(framed.suffixCount)))
      return framed.edges[frame] ?? []
    }
    return found.sorted { $0.order < $1.order } + plain
  }

  /// The node behind a parameter.
  func node(of frame: Frame, _ type: SegmentTypes.SegmentType?) -> RouteTree.Node? {
    let edges = frame.isEmpty ? plain : framed.lazy.compactMap { $0.edges[frame] }.first
    return edges?.first { $0.type?.name == type?.name }?.node
  }

  /// Changes the node behind a parameter, which is made where there is none, and taken out where it is left empty.
  mutating func change(
    _ frame: Frame, _ type: SegmentTypes.SegmentType?, _ change: (inout RouteTree.Node) -> Void
  ) {
    let edge = Edge(frame: frame, type: type)
    guard !frame.isEmpty else { return Self.change(edge, of: &plain, change) }
    let (prefix, suffix) = (frame.prefix.count, frame.suffix.count)
    let known = framed.firstIndex { $0.prefixCount == prefix && $0.suffixCount == suffix }
    let index = known ?? framed.count
    if known == nil { framed.append(Framed(prefixCount: prefix, suffixCount: suffix)) }
    Self.change(edge, of: &framed[index].edges[frame, default: []], change)
    if framed[index].edges[frame]?.isEmpty == true { framed[index].edges[frame] = nil }
    if framed[index].edges.isEmpty { framed.remove(at: index) }
  }

  /// Changes the node behind one of the edges of a frame, which differ in their types.
  private static func change(
    _ edge: Edge, of edges: inout [Edge], _ change: (inout RouteTree.Node) -> Void
  ) {
    let known = edges.firstIndex { $0.type?.name == edge.type?.name }
    let index = known ?? edges.firstIndex { edge.order < $0.order } ?? edges.count
    if known == nil { edges.insert(edge, at: index) }
    change(&edges[index].node)
    if edges[index].node.isEmpty { edges.remove(at: index) }
  }
}

extension PatternSegment.Capture {
  /// The text around its value.
  var frame: RouteEdges.Frame { RouteEdges.Frame(prefix: prefix, suffix: suffix) }
}
