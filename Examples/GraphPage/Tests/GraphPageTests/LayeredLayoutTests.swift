import Testing

@testable import GraphPage

@Suite("Columns of boxes")
struct LayeredLayoutTests {
  /// Boxes and arrows; the boxes are as wide as their number says.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var count: Int
    var arrows: [(from: Int, to: Int)]
    /// Whether every arrow can lead to the right.
    var isAcyclic = true
  }

  static let rows = [
    Row(testDescription: "nothing", count: 0, arrows: []),
    Row(testDescription: "one box", count: 1, arrows: []),
    Row(
      testDescription: "a box that leads to itself", count: 1, arrows: [(0, 0)], isAcyclic: false),
    Row(testDescription: "a chain", count: 6, arrows: (0..<5).map { ($0, $0 + 1) }),
    Row(
      testDescription: "an arrow past others", count: 4, arrows: [(0, 1), (1, 2), (2, 3), (0, 3)]),
    Row(testDescription: "a cycle", count: 3, arrows: [(0, 1), (1, 2), (2, 0)], isAcyclic: false),
    Row(
      testDescription: "the same arrow twice", count: 3, arrows: [(0, 1), (0, 1), (1, 2), (0, 2)]),
    Row(testDescription: "all to one", count: 300, arrows: (1..<300).map { ($0, 0) }),
    Row(testDescription: "nothing to nothing", count: 500, arrows: []),
    Row(
      testDescription: "a thicket", count: 500,
      arrows: (1..<500).flatMap { [($0, $0 / 2), ($0, $0 * 7 % 101 % $0)] }),
    Row(
      testDescription: "a long chain, folded", count: 60, arrows: (0..<59).map { ($0, $0 + 1) },
      isAcyclic: false),
  ]

  @Test("never overlap, lead to the right where they can, and fit into the size", arguments: rows)
  func holds(row: Row) {
    let sizes = (0..<row.count).map { Size(width: 60 + $0 % 90, height: 40) }
    let layout = LayeredLayout(sizes, arrows: row.arrows)
    #expect(layout.origins.count == row.count)
    for (origin, size) in zip(layout.origins, sizes) {
      #expect(origin.x >= 0 && origin.y >= 0)
      #expect(origin.x + size.width <= layout.size.width)
      #expect(origin.y + size.height <= layout.size.height)
    }
    for first in sizes.indices {
      for second in sizes.indices.dropFirst(first + 1) {
        let (a, b) = (layout.origins[first], layout.origins[second])
        let isApart =
          a.x + sizes[first].width <= b.x || b.x + sizes[second].width <= a.x
          || a.y + sizes[first].height <= b.y || b.y + sizes[second].height <= a.y
        #expect(isApart, "\(first) and \(second)")
      }
    }
    if row.isAcyclic {
      for arrow in row.arrows {
        #expect(layout.origins[arrow.from].x < layout.origins[arrow.to].x, "\(arrow)")
      }
    }
    let again = LayeredLayout(sizes, arrows: row.arrows)
    #expect(again.origins == layout.origins)
    #expect(again.bends == layout.bends)
  }

  @Test("make a picture that a screen can show, also of what is long or unconnected")
  func aspect() {
    for row in Self.rows where row.count >= 60 {
      let sizes = Array(repeating: Size(width: 150, height: 40), count: row.count)
      let layout = LayeredLayout(sizes, arrows: row.arrows)
      let aspect = Double(layout.size.width) / Double(layout.size.height)
      #expect((0.4...6).contains(aspect), "\(row.testDescription): \(aspect)")
    }
  }

  @Test("lead an arrow past the boxes that stand between its ends")
  func bends() {
    let sizes = Array(repeating: Size(width: 100, height: 40), count: 4)
    let layout = LayeredLayout(sizes, arrows: [(0, 1), (1, 2), (2, 3), (0, 3)])
    #expect(layout.bends.map(\.count) == [0, 0, 0, 4])
    for (box, bends) in [(1, layout.bends[3].prefix(2)), (2, layout.bends[3].suffix(2))] {
      for bend in bends {
        #expect(!(layout.origins[box].y...layout.origins[box].y + 40).contains(bend.y))
      }
    }
  }

  @Test("lead the arrow that closes a cycle back without a turn")
  func backward() throws {
    let sizes = Array(repeating: Size(width: 100, height: 40), count: 4)
    let layout = LayeredLayout(sizes, arrows: [(0, 1), (1, 2), (2, 3), (3, 0)])
    let way = try [layout.origins[3].x] + #require(layout.bends.last).map(\.x)
    #expect(way.count == 5)
    #expect(zip(way, way.dropFirst()).allSatisfy { $0 > $1 }, "\(way)")
  }

  @Test("use the width of a screen for what nothing connects")
  func width() {
    // Seven stars, each of nine boxes around one. Three stars fit next to each other.
    let sizes = Array(repeating: Size(width: 150, height: 120), count: 70)
    let arrows = (0..<70).filter { $0 % 10 != 0 }.map { ($0, $0 / 10 * 10) }
    let layout = LayeredLayout(sizes, arrows: arrows)
    let aspect = Double(layout.size.width) / Double(layout.size.height)
    #expect((1.3...2.6).contains(aspect), "\(layout.size)")
  }
}
