/// The layout of a picture: nodes in their files, files next to each other.
struct PicturePlan: Encodable {
  struct Box: Encodable {
    var origin = Point()
    var size: Size
  }

  private(set) var nodes: [Box]
  private(set) var files: [Box]
  /// The height of a file's title, above all that the file holds.
  let title = 36
  /// The folder that all files are in, with a slash at its end; empty if there is none. Paths are relative to it.
  let folder: String
  /// The points that each edge passes between its ends.
  private(set) var bends: [[Point]]
  private(set) var size = Size(width: 0, height: 0)

  private static let margin = 14
  private static let lineHeight = 40
  /// The longest text that a node shows whole.
  static let textLimit = 34

  init(of picture: Picture) {
    nodes = picture.nodes.map { Box(size: Self.size(of: $0)) }
    files = []
    folder = picture.folder
    bends = Array(repeating: [], count: picture.edges.count)

    // Places the nodes of each file relative to the file, which has no place yet.
    let edgesWithin = Dictionary(grouping: picture.edges.indices) { index in
      let ends = [picture.edges[index].from, picture.edges[index].to].map { picture.nodes[$0].file }
      return ends[0] == ends[1] ? ends[0] : nil
    }
    for (position, members) in picture.members.enumerated() {
      let file = picture.files[position]
      let places = Dictionary(uniqueKeysWithValues: zip(members, members.indices))
      let edges = edgesWithin[position] ?? []
      let layout = LayeredLayout(
        members.map { nodes[$0].size },
        arrows: edges.compactMap { edge in
          guard let from = places[picture.edges[edge].from], let to = places[picture.edges[edge].to]
          else { return nil }
          return (from, to)
        })
      for (node, origin) in zip(members, layout.origins) { nodes[node].origin = origin }
      for (edge, points) in zip(edges, layout.bends) { bends[edge] = points }
      let name = file.name.count - folder.count
      let width = min(name + file.machine.count + 2, Self.textLimit + 8) * 9
      files.append(
        Box(
          size: Size(
            width: max(layout.size.width, width) + 2 * Self.margin,
            height: layout.size.height + title + 3 * Self.margin / 2)))
    }

    // Places the files, and the nodes outside files.
    let free = picture.freeNodes
    let freeBoxes = Dictionary(
      uniqueKeysWithValues: zip(free, files.count..<files.count + free.count))
    func box(of node: Int) -> Int { picture.nodes[node].file ?? freeBoxes[node] ?? 0 }
    let edges = edgesWithin[nil] ?? []
    let layout = LayeredLayout(
      files.map(\.size) + free.map { nodes[$0].size },
      arrows: edges.map { (box(of: picture.edges[$0].from), box(of: picture.edges[$0].to)) },
      gaps: LayeredLayout.Gaps(betweenColumns: 96, betweenBoxes: 28, betweenParts: 44))
    size = layout.size
    for file in files.indices { files[file].origin = layout.origins[file] }
    for node in nodes.indices {
      let origin = layout.origins[box(of: node)]
      guard let file = picture.nodes[node].file else {
        nodes[node].origin = origin
        continue
      }
      nodes[node].origin = moved(nodes[node].origin, into: file)
    }
    for (edge, points) in zip(edges, layout.bends) { bends[edge] = points }
    for file in files.indices {
      for edge in edgesWithin[file] ?? [] {
        bends[edge] = bends[edge].map { moved($0, into: file) }
      }
    }
  }

  /// Returns the size of a node, by its text. Letters of a fixed width need no measuring.
  private static func size(of node: Picture.Node) -> Size {
    let letters = max(
      Double(min(node.name.count, textLimit)) * 7.4,
      Double(min(node.caption.count, textLimit + 6)) * 6.2)
    return Size(width: max(72, Int(letters) + 28), height: lineHeight)
  }

  /// Returns the place in the picture of a point in a file's contents.
  private func moved(_ point: Point, into file: Int) -> Point {
    let origin = files[file].origin
    return Point(
      x: origin.x + Self.margin + point.x,
      y: origin.y + title + Self.margin / 2 + point.y)
  }
}
