/// Boxes that arrows connect, in columns.
///
/// The steps are those of Sugiyama. Cycles are cut, and each box gets a column after all boxes that lead to it. Long
/// arrows get a slot in every column they pass. Columns are ordered so that arrows cross less. Each box moves towards
/// the boxes it is connected with.
struct LayeredPart {
  let boxes: [Int]
  /// The upper left corner of each of `boxes`.
  private(set) var origins: [Point] = []
  private(set) var bends: [(arrow: Int, points: [Point])] = []
  private(set) var size = Size(width: 0, height: 0)

  /// A box, or the slot of a long arrow in a column that it passes.
  private struct Slot {
    var size: Size
    var column: Int
    var left: [Int] = []
    var right: [Int] = []
    var centre = 0.0
    /// The first column of its band.
    var band = 0
  }

  private var slots: [Slot] = []
  private var columns: [[Int]] = []
  private var edges: [(left: Int, right: Int)] = []

  init(
    _ boxes: [Int], _ sizes: [Size], _ arrows: [(from: Int, to: Int)], _ gaps: LayeredLayout.Gaps
  ) {
    self.boxes = boxes
    guard boxes.count > 1 else {
      origins = [Point()]
      size = sizes[boxes[0]]
      return
    }
    let positions = Dictionary(uniqueKeysWithValues: zip(boxes, boxes.indices))
    var links: [(arrow: Int, from: Int, to: Int)] = []
    for (index, arrow) in arrows.enumerated() where arrow.from != arrow.to {
      guard let from = positions[arrow.from], let to = positions[arrow.to] else { continue }
      links.append((index, from, to))
    }
    let ranks = Self.ranks(of: boxes.count, links.map { ($0.from, $0.to) })
    slots = boxes.indices.map { Slot(size: sizes[boxes[$0]], column: ranks[$0]) }
    let passes = connect(links)
    columns = Array(repeating: [], count: (ranks.max() ?? 0) + 1)
    for slot in slots.indices { columns[slots[slot].column].append(slot) }
    order()
    wrap(gaps)
    place(gaps)
    origins = boxes.indices.map { box in
      let slot = slots[box]
      return Point(x: edges[slot.column].left, y: Int(slot.centre) - slot.size.height / 2)
    }
    for (arrow, passed) in passes where !passed.isEmpty {
      // An arrow from one band to another is straight.
      let ends = [arrows[arrow].from, arrows[arrow].to].compactMap { positions[$0] }
      guard Set((passed + ends).map { slots[$0].band }).count == 1 else { continue }
      let isForward = ends.first.map { slots[$0].column <= slots[passed[0]].column } ?? true
      let points = passed.flatMap { slot in
        let (left, right) = edges[slots[slot].column]
        return (isForward ? [left, right] : [right, left]).map {
          Point(x: $0, y: Int(slots[slot].centre))
        }
      }
      bends.append((arrow, points))
    }
  }

  /// Links neighbouring columns, with a slot in each column that an arrow passes. Returns these slots.
  private mutating func connect(
    _ links: [(arrow: Int, from: Int, to: Int)]
  ) -> [(arrow: Int, slots: [Int])] {
    // If the arrows would need far more slots than there are boxes, they go straight.
    let length = Set(links.map { [$0.from, $0.to] }).reduce(0) { sum, ends in
      sum + max(0, abs(slots[ends[0]].column - slots[ends[1]].column) - 1)
    }
    let bends = length <= 12 * slots.count
    var passes: [(arrow: Int, slots: [Int])] = []
    var shared: [[Int]: [Int]] = [:]
    for link in links {
      let isForward = slots[link.from].column <= slots[link.to].column
      let (start, end) = isForward ? (link.from, link.to) : (link.to, link.from)
      let passed = shared[[start, end]] ?? way(from: start, to: end, isBent: bends)
      shared[[start, end]] = passed
      passes.append((link.arrow, isForward ? passed : passed.reversed()))
    }
    return passes
  }

  /// Joins two slots. A bent arrow gets new slots in the columns between them. Returns these slots.
  private mutating func way(from start: Int, to end: Int, isBent: Bool) -> [Int] {
    let columns = slots[start].column..<slots[end].column
    var passed: [Int] = []
    for column in columns.dropFirst() where isBent {
      slots.append(Slot(size: Size(width: 0, height: 4), column: column))
      join(passed.last ?? start, slots.count - 1)
      passed.append(slots.count - 1)
    }
    if !columns.isEmpty { join(passed.last ?? start, end) }
    return passed
  }

  private mutating func join(_ left: Int, _ right: Int) {
    slots[left].right.append(right)
    slots[right].left.append(left)
  }

  /// Sorts each column by the mean of its slots' neighbours, to and fro.
  private mutating func order() {
    var ranks = Array(repeating: 0.0, count: slots.count)
    func number(_ column: [Int]) {
      for (rank, slot) in column.enumerated() { ranks[slot] = Double(rank) }
    }
    for column in columns { number(column) }
    for sweep in 0..<12 {
      let goesRight = sweep.isMultiple(of: 2)
      for index in goesRight ? Array(columns.indices) : columns.indices.reversed() {
        let keys = columns[index].map { slot in
          (goesRight ? slots[slot].left : slots[slot].right).map { ranks[$0] }.middle ?? ranks[slot]
        }
        let sorted = columns[index].indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
        columns[index] = sorted.map { columns[index][$0] }
        number(columns[index])
      }
    }
  }

  /// Splits a column that would be much taller than the whole is wide into several.
  private mutating func wrap(_ gaps: LayeredLayout.Gaps) {
    func height(_ slot: Int) -> Int { slots[slot].size.height + gaps.betweenBoxes }
    let area = slots.reduce(0.0) { sum, slot in
      sum + Double(slot.size.width + gaps.betweenColumns)
        * Double(slot.size.height + gaps.betweenBoxes)
    }
    let tallest = slots.map(\.size.height).max() ?? 0
    let limit = max((area / LayeredLayout.aspect).squareRoot() * 1.3, Double(tallest) * 2)
    var wrapped: [[Int]] = []
    for column in columns {
      let whole = column.reduce(0) { $0 + height($1) }
      let share = Double(whole) / (Double(whole) / limit).rounded(.up)
      var sum = 0
      for (index, slot) in column.enumerated() {
        if index == 0 || Double(sum) >= share {
          wrapped.append([])
          sum = 0
        }
        sum += height(slot)
        wrapped[wrapped.count - 1].append(slot)
        slots[slot].column = wrapped.count - 1
      }
    }
    columns = wrapped
  }

  private mutating func place(_ gaps: LayeredLayout.Gaps) {
    for band in bands(gaps) {
      var left = 0
      for column in band {
        edges.append((left, left + widest(in: columns[column])))
        left = edges[column].right + gaps.betweenColumns
        size.width = max(size.width, edges[column].right)
        spread(columns[column], gaps.betweenBoxes, wishes: columns[column].map { _ in 0 })
      }
      for sweep in 0..<8 {
        for column in sweep.isMultiple(of: 2) ? Array(band) : band.reversed() {
          let wishes = columns[column].map { slot in
            (slots[slot].left + slots[slot].right).filter { band.contains(slots[$0].column) }
              .map { slots[$0].centre }.middle ?? slots[slot].centre
          }
          spread(columns[column], gaps.betweenBoxes, wishes: wishes)
        }
      }
      let members = columns[band].joined()
      let top = members.map { slots[$0].centre - Double(slots[$0].size.height) / 2 }.min() ?? 0
      for slot in members {
        slots[slot].centre += Double(size.height) - top.rounded(.down)
        slots[slot].band = band.lowerBound
      }
      let ends = members.map { slots[$0].centre + Double(slots[$0].size.height) / 2 }
      size.height = Int(ends.max() ?? 0) + 2 * gaps.betweenParts
    }
    size.height -= 2 * gaps.betweenParts
  }

  private func widest(in column: [Int]) -> Int { column.map { slots[$0].size.width }.max() ?? 0 }

  /// Returns the columns in bands below each other, like lines of a text, if there are many columns and one band would
  /// be far too wide.
  private func bands(_ gaps: LayeredLayout.Gaps) -> [Range<Int>] {
    let widths = columns.map { widest(in: $0) + gaps.betweenColumns }
    let heights = columns.map { column in
      column.reduce(0) { $0 + slots[$1].size.height + gaps.betweenBoxes }
    }
    let width = Double(widths.reduce(0, +))
    let height = Double((heights.max() ?? 0) + 2 * gaps.betweenParts)
    let count = (width / (height * LayeredLayout.aspect)).squareRoot().rounded()
    guard count >= 2, columns.count >= 10 else { return [columns.indices] }
    var bands: [Range<Int>] = []
    var (start, sum) = (0, 0.0)
    for (column, columnWidth) in widths.enumerated() {
      sum += Double(columnWidth)
      guard sum >= width / count || column == columns.count - 1 else { continue }
      bands.append(start..<(column + 1))
      (start, sum) = (column + 1, 0)
    }
    return bands
  }

  /// Moves each slot of a column as near to its wish as order and gaps allow.
  ///
  /// Slots that would overlap share a block, in the middle of their wishes.
  private mutating func spread(_ column: [Int], _ gap: Int, wishes: [Double]) {
    var blocks: [(wish: Double, count: Int)] = []
    var offsets: [Double] = []
    var offset = 0.0
    for (index, slot) in column.enumerated() {
      if index > 0 {
        offset += Double(slots[column[index - 1]].size.height + slots[slot].size.height) / 2
        offset += Double(gap)
      }
      offsets.append(offset)
      var block = (wish: wishes[index] - offset, count: 1)
      while let last = blocks.last, last.wish >= block.wish {
        blocks.removeLast()
        let sum = last.wish * Double(last.count) + block.wish * Double(block.count)
        block.count += last.count
        block.wish = sum / Double(block.count)
      }
      blocks.append(block)
    }
    let starts = blocks.flatMap { repeatElement($0.wish, count: $0.count) }
    for (index, slot) in column.enumerated() { slots[slot].centre = starts[index] + offsets[index] }
  }
}

extension [Double] {
  /// The mean; nil if empty.
  fileprivate var middle: Double? { isEmpty ? nil : reduce(0, +) / Double(count) }
}

extension LayeredPart {
  /// Returns the column of each box: after all boxes that lead to it, but no further from them than needed.
  static func ranks(of count: Int, _ arrows: [(from: Int, to: Int)]) -> [Int] {
    var next: [[Int]] = Array(repeating: [], count: count)
    for arrow in arrows { next[arrow.from].append(arrow.to) }
    let finished = next.depthFirst
    // An arrow that closes a cycle does not count.
    var turns = Array(repeating: 0, count: count)
    for (turn, box) in finished.enumerated() { turns[box] = turn }
    for box in next.indices { next[box].removeAll { turns[$0] >= turns[box] } }
    var ranks = Array(repeating: 0, count: count)
    var isLed = Array(repeating: false, count: count)
    for box in finished.reversed() {
      for other in next[box] {
        ranks[other] = max(ranks[other], ranks[box] + 1)
        isLed[other] = true
      }
    }
    for box in finished where !isLed[box] {
      if let nearest = next[box].map({ ranks[$0] }).min() { ranks[box] = nearest - 1 }
    }
    return ranks
  }
}
