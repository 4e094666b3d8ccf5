/// Places boxes in columns, so that what leads somewhere stands left of where it leads.
///
/// Boxes that nothing connects are laid out by themselves, and the parts are packed into a rectangle
/// about as wide as a screen is. The same boxes and arrows give the same picture.
struct LayeredLayout {
  struct Size: Equatable {
    var width: Int
    var height: Int
  }

  struct Point: Equatable {
    var x = 0
    var y = 0
  }

  struct Gaps {
    var betweenColumns = 56
    var betweenBoxes = 14
    var betweenParts = 20
  }

  /// The upper left corner of each box.
  private(set) var origins: [Point]
  /// What each arrow passes between its ends, in order.
  private(set) var bends: [[Point]]
  private(set) var size = Size(width: 0, height: 0)

  /// How much wider than high a picture is meant to be.
  static let aspect = 1.6

  init(_ sizes: [Size], arrows: [(from: Int, to: Int)], gaps: Gaps = Gaps()) {
    origins = Array(repeating: Point(), count: sizes.count)
    bends = Array(repeating: [], count: arrows.count)
    let parts = Self.parts(of: sizes.count, arrows).map { members in
      LayeredPart(members, sizes, arrows, gaps)
    }
    // Large parts first; a part of one box is as small as they come.
    let order = parts.indices.sorted {
      (parts[$0].boxes.count, -$0) > (parts[$1].boxes.count, -$1)
    }
    let limit = Self.limit(for: order.map { parts[$0].size }, gaps)
    var shelf = Point()
    var shelfHeight = 0
    for index in order {
      let part = parts[index]
      if shelf.x > 0, shelf.x + part.size.width > limit {
        shelf = Point(x: 0, y: shelf.y + shelfHeight + gaps.betweenParts)
        shelfHeight = 0
      }
      for (box, origin) in zip(part.boxes, part.origins) {
        origins[box] = Point(x: shelf.x + origin.x, y: shelf.y + origin.y)
      }
      for (arrow, points) in part.bends {
        bends[arrow] = points.map { Point(x: shelf.x + $0.x, y: shelf.y + $0.y) }
      }
      size.width = max(size.width, shelf.x + part.size.width)
      size.height = max(size.height, shelf.y + part.size.height)
      shelf.x += part.size.width + gaps.betweenParts
      shelfHeight = max(shelfHeight, part.size.height)
    }
  }

  /// The width at which shelves of these sizes look largest in a window.
  private static func limit(for sizes: [Size], _ gaps: Gaps) -> Int {
    let area = sizes.reduce(0.0) { sum, size in
      sum + Double((size.width + gaps.betweenParts) * (size.height + gaps.betweenParts))
    }
    let widest = sizes.map(\.width).max() ?? 0
    let square = (area * aspect).squareRoot()
    let limits = (7...20).map { max(widest, Int(square * Double($0) / 10)) }
    func height(_ limit: Int) -> Double {
      var (shelf, whole) = (Size(width: 0, height: 0), Size(width: 0, height: 0))
      for size in sizes {
        if shelf.width > 0, shelf.width + size.width > limit {
          whole.height += shelf.height + gaps.betweenParts
          shelf = Size(width: 0, height: 0)
        }
        whole.width = max(whole.width, shelf.width + size.width)
        shelf.width += size.width + gaps.betweenParts
        shelf.height = max(shelf.height, size.height)
      }
      return max(Double(whole.height + shelf.height), Double(whole.width) / aspect)
    }
    return limits.min { height($0) < height($1) } ?? widest
  }

  /// Boxes that arrows connect, each group in order.
  private static func parts(of count: Int, _ arrows: [(from: Int, to: Int)]) -> [[Int]] {
    var parent = Array(0..<count)
    func root(_ box: Int) -> Int {
      var box = box
      while parent[box] != box {
        parent[box] = parent[parent[box]]
        box = parent[box]
      }
      return box
    }
    for arrow in arrows {
      parent[max(root(arrow.from), root(arrow.to))] =
        min(root(arrow.from), root(arrow.to))
    }
    var groups: [Int: [Int]] = [:]
    for box in 0..<count { groups[root(box), default: []].append(box) }
    return groups.keys.sorted().map { groups[$0] ?? [] }
  }
}
