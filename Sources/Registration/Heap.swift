/// A binary heap of numbers: the smallest first.
package struct Heap {
  private var numbers: [Int]

  /// A heap of these numbers, which ascend.
  package init(_ sorted: [Int] = []) { numbers = sorted }

  package mutating func insert(_ number: Int) {
    numbers.append(number)
    var child = numbers.count - 1
    while child > 0, numbers[child] < numbers[(child - 1) / 2] {
      numbers.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  package mutating func popMin() -> Int? {
    guard let least = numbers.first, let last = numbers.popLast() else { return nil }
    guard !numbers.isEmpty else { return least }
    numbers[0] = last
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < numbers.count else { return least }
      if child + 1 < numbers.count, numbers[child + 1] < numbers[child] { child += 1 }
      guard numbers[child] < numbers[parent] else { return least }
      numbers.swapAt(child, parent)
      parent = child
    }
  }
}
