extension RandomAccessCollection {
  /// The index of the first element for which `isBehind` holds, where it holds for all after that one.
  func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
    var (start, count) = (startIndex, self.count)
    while count > 0 {
      let middle = index(start, offsetBy: count / 2)
      if isBehind(self[middle]) {
        count /= 2
      } else {
        start = index(after: middle)
        count -= count / 2 + 1
      }
    }
    return start
  }
}
