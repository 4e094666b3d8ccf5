/// The parameters of a `RouteTree` node that may take a segment.
///
/// A segment has one frame of each length, and that is looked up. Thousands of `/v1-:id`, `/v2-:id` cost a match
/// no more than one.
struct RouteEdges: Sendable {
  /// The text before a value and after it. It is compared and counted in characters, so that composed and
  /// decomposed ones are the same.
  struct Frame: Hashable { var prefix = "", suffix = "" }

  /// An edge that takes a segment and gives a value.
  typealias Edge = (frame: Frame, type: SegmentTypes.SegmentType?, node: RouteTree.Node)

  /// Returns a sort key: text around the value beats none, a type beats text, a narrow type beats a wide one.
  private static func order(of edge: Edge) -> (Int, Int, String, String, String) {
    let (frame, type, _) = edge
    return (
      -(frame.prefix.count + frame.suffix.count), type?.rank ?? 5, type?.name ?? "", frame.prefix,
      frame.suffix
    )
  }

  /// Edges without text around the value, in the order that they are tried.
  private var plain: [Edge] = []
  /// The others, by the lengths of the text before and after the value.
  private(set) var framed: [[Int]: [Frame: [Edge]]] = [:]

  var isEmpty: Bool { plain.isEmpty && framed.isEmpty }

  /// Returns the edges that may take a segment by the text around its value, in the order that they are tried.
  func edges(for segment: String) -> [Edge] {
    guard !framed.isEmpty else { return plain }
    let count = segment.count
    let found = framed.flatMap { lengths, edges -> [Edge] in
      guard count > lengths[0] + lengths[1] else { return [] }
      let frame = Frame(
        prefix: String(segment.prefix(lengths[0])), suffix: String(segment.suffix(lengths[1])))
      return edges[frame] ?? []
    }
    return found.sorted { Self.order(of: $0) < Self.order(of: $1) } + plain
  }

  /// Changes the node after a parameter. Makes the node if it is missing, and removes it if it is left empty.
  mutating func change(
    _ frame: Frame, _ type: SegmentTypes.SegmentType?, _ change: (inout RouteTree.Node) -> Void
  ) {
    let edge = (frame, type, RouteTree.Node())
    guard frame != Frame() else { return Self.change(edge, of: &plain, change) }
    let lengths = [frame.prefix.count, frame.suffix.count]
    var edges = framed[lengths]?.removeValue(forKey: frame) ?? []
    Self.change(edge, of: &edges, change)
    if !edges.isEmpty { framed[lengths, default: [:]][frame] = edges }
    if framed[lengths]?.isEmpty == true { framed[lengths] = nil }
  }

  /// Changes the node after one of the edges of a frame. They differ in their types.
  private static func change(
    _ edge: Edge, of edges: inout [Edge], _ change: (inout RouteTree.Node) -> Void
  ) {
    let known = edges.firstIndex { $0.type?.name == edge.type?.name }
    let index =
      known ?? edges.firstIndex { order(of: edge) < order(of: $0) } ?? edges.count
    if known == nil { edges.insert(edge, at: index) }
    change(&edges[index].node)
    if edges[index].node.isEmpty { edges.remove(at: index) }
  }
}

extension PatternSegment.Capture {
  /// The text around its value.
  var frame: RouteEdges.Frame { RouteEdges.Frame(prefix: prefix, suffix: suffix) }
}
