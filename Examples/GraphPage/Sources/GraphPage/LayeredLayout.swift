/// Places boxes in columns, so that each box is left of the boxes that it leads to.
///
/// Boxes that nothing connects are laid out by themselves, and the parts are packed into a rectangle
/// about as wide as a screen is. The same boxes and arrows give the same picture.
struct LayeredLayout {
  struct Gaps {
    var betweenColumns = 56
    var betweenBoxes = 14
    var betweenParts = 20
  }

  /// The upper left corner of each box.
  private(set) var origins: [Point]
  /// The points that each arrow passes between its ends, in order.
  private(set) var bends: [[Point]]
  private(set) var size = Size(width: 0, height: 0)

  /// The intended ratio of a picture's width to its height.
  static let aspect = 1.6

  init(_ sizes: [Size], arrows: [(from: Int, to: Int)], gaps: Gaps = Gaps()) {
    origins = Array(repeating: Point(), count: sizes.count)
    bends = Array(repeating: [], count: arrows.count)
    let parts = Self.parts(of: sizes.count, arrows).map { members in
      LayeredPart(members, sizes, arrows, gaps)
    }
    // Large parts come first, parts of one box last.
    let order = parts.indices.sorted {
      (parts[$0].boxes.count, -$0) > (parts[$1].boxes.count, -$1)
    }
    let (corners, size) = Self.shelves(of: order.map { parts[$0].size }, gaps)
    self.size = size
    for (index, corner) in zip(order, corners) {
      let part = parts[index]
      func moved(_ point: Point) -> Point { Point(x: corner.x + point.x, y: corner.y + point.y) }
      for (box, origin) in zip(part.boxes, part.origins) { origins[box] = moved(origin) }
      for (arrow, points) in part.bends { bends[arrow] = points.map(moved) }
    }
  }

  /// Puts parts of these sizes on shelves, with the width that makes them look largest in a window.
  private static func shelves(of sizes: [Size], _ gaps: Gaps) -> (corners: [Point], size: Size) {
    let area = sizes.reduce(0.0) { sum, size in
      sum + Double((size.width + gaps.betweenParts) * (size.height + gaps.betweenParts))
    }
    let widest = sizes.map(\.width).max() ?? 0
    let square = (area * aspect).squareRoot()
    let limits = (7...20).map { max(widest, Int(square * Double($0) / 10)) }
    func height(_ limit: Int) -> Double {
      let size = shelves(of: sizes, upTo: limit, gaps).size
      return max(Double(size.height), Double(size.width) / aspect)
    }
    return shelves(of: sizes, upTo: limits.min { height($0) < height($1) } ?? widest, gaps)
  }

  private static func shelves(
    of sizes: [Size], upTo limit: Int, _ gaps: Gaps
  ) -> (corners: [Point], size: Size) {
    var (corners, whole): ([Point], Size) = ([], Size(width: 0, height: 0))
    var (corner, height) = (Point(), 0)
    for size in sizes {
      if corner.x > 0, corner.x + size.width > limit {
        corner = Point(x: 0, y: corner.y + height + gaps.betweenParts)
        height = 0
      }
      corners.append(corner)
      whole.width = max(whole.width, corner.x + size.width)
      whole.height = max(whole.height, corner.y + size.height)
      corner.x += size.width + gaps.betweenParts
      height = max(height, size.height)
    }
    return (corners, whole)
  }

  /// Returns the groups of boxes that arrows connect, each group in order.
  private static func parts(of count: Int, _ arrows: [(from: Int, to: Int)]) -> [[Int]] {
    var connected: [[Int]] = Array(repeating: [], count: count)
    for arrow in arrows {
      connected[arrow.from].append(arrow.to)
      connected[arrow.to].append(arrow.from)
    }
    return connected.components.map { $0.sorted() }.sorted { $0[0] < $1[0] }
  }
}

/// The size of a box, or of a picture.
struct Size: Hashable, Encodable {
  var width: Int
  var height: Int
}

struct Point: Hashable, Encodable {
  var x = 0
  var y = 0
}
