/// A binary heap: the smallest element first.
struct Heap<Element: Comparable> {
  private var elements: [Element] = []

  init(_ elements: [Element]) { for element in elements { insert(element) } }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func popMin() -> Element? {
    guard let least = elements.first else { return nil }
    elements[0] = elements[elements.count - 1]
    elements.removeLast()
    var parent = 0
    while true {
      let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < elements.count }
      guard let child = children.min(by: { elements[$0] < elements[$1] }),
        elements[child] < elements[parent]
      else { return least }
      elements.swapAt(child, parent)
      parent = child
    }
  }
}
