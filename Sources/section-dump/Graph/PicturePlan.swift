/// Where everything of a picture stands: nodes in their files, files beside each other.
struct PicturePlan {
  typealias Size = LayeredLayout.Size
  typealias Point = LayeredLayout.Point

  struct Box: Equatable {
    var origin = Point()
    var size: Size
  }

  private(set) var nodes: [Box]
  private(set) var files: [Box]
  /// What each edge passes between its ends.
  private(set) var bends: [[Point]]
  private(set) var size = Size(width: 0, height: 0)

  private static let margin = 14
  private static let titleHeight = 26
  private static let lineHeight = 40
  /// The longest text that a node shows whole.
  static let textLimit = 34

  init(of picture: Picture) {
    nodes = picture.nodes.map { Box(size: Self.size(of: $0)) }
    files = []
    bends = Array(repeating: [], count: picture.edges.count)

    // The nodes of each file, their places relative to it until it has one.
    var innerEdges: [Int: [Int]] = [:]
    for (index, edge) in picture.edges.enumerated() {
      let file = picture.nodes[edge.from].file
      if let file, file == picture.nodes[edge.to].file {
        innerEdges[file, default: []].append(index)
      }
    }
    for (position, file) in picture.files.enumerated() {
      let places = Dictionary(uniqueKeysWithValues: zip(file.nodes, file.nodes.indices))
      let edges = innerEdges[position] ?? []
      let layout = LayeredLayout(
        file.nodes.map { nodes[$0].size },
        arrows: edges.compactMap { edge in
          guard let from = places[picture.edges[edge].from], let to = places[picture.edges[edge].to]
          else { return nil }
          return (from, to)
        })
      for (node, origin) in zip(file.nodes, layout.origins) { nodes[node].origin = origin }
      for (edge, points) in zip(edges, layout.bends) { bends[edge] = points }
      let title = min(file.name.count + file.machine.count + 2, Self.textLimit + 8) * 8
      files.append(
        Box(
          size: Size(
            width: max(layout.size.width, title) + 2 * Self.margin,
            height: layout.size.height + Self.titleHeight + 2 * Self.margin)))
    }

    // Files, and the nodes that stand beside them; edges between the same two share their way.
    let free = picture.nodes.indices.filter { picture.nodes[$0].file == nil }
    let freeBoxes = Dictionary(
      uniqueKeysWithValues: zip(free, files.count..<files.count + free.count))
    func box(of node: Int) -> Int { picture.nodes[node].file ?? freeBoxes[node] ?? 0 }
    var arrows: [(from: Int, to: Int)] = []
    var arrowOf: [[Int]: Int] = [:]
    for edge in picture.edges {
      let (from, to) = (box(of: edge.from), box(of: edge.to))
      guard from != to, arrowOf[[from, to]] == nil else { continue }
      arrowOf[[from, to]] = arrows.count
      arrows.append((from, to))
    }
    let layout = LayeredLayout(
      files.map(\.size) + free.map { nodes[$0].size }, arrows: arrows,
      gaps: LayeredLayout.Gaps(betweenColumns: 96, betweenBoxes: 28, betweenParts: 44))
    size = layout.size
    for file in files.indices { files[file].origin = layout.origins[file] }
    for node in nodes.indices {
      let origin = layout.origins[box(of: node)]
      guard picture.nodes[node].file != nil else {
        nodes[node].origin = origin
        continue
      }
      nodes[node].origin = nodes[node].origin.movedIntoFile(at: origin)
    }
    for (index, edge) in picture.edges.enumerated() {
      let (from, to) = (box(of: edge.from), box(of: edge.to))
      if from == to {
        bends[index] = bends[index].map { $0.movedIntoFile(at: layout.origins[from]) }
      } else if let arrow = arrowOf[[from, to]] {
        bends[index] = layout.bends[arrow]
      }
    }
  }

  /// The place of a node's text decides its size; letters of a fixed width are as good as measured.
  private static func size(of node: Picture.Node) -> Size {
    let letters = max(
      Double(min(node.name.count, textLimit)) * 7.4,
      Double(min(node.caption.count, textLimit + 6)) * 6.2)
    return Size(width: max(72, Int(letters) + 28), height: lineHeight)
  }

  fileprivate static func inside(_ origin: Point) -> Point {
    Point(x: origin.x + margin, y: origin.y + margin + titleHeight)
  }
}

extension LayeredLayout.Point {
  fileprivate func movedIntoFile(at origin: Self) -> Self {
    let start = PicturePlan.inside(origin)
    return Self(x: start.x + x, y: start.y + y)
  }
}
