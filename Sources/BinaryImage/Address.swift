/// An address as the linker assigned it, before any load bias; relative to its section in objects.
///
/// ELF: `p_vaddr`, `sh_addr`, `st_value`. Mach-O: `vmaddr`.
package struct VirtualAddress: RawRepresentable, Hashable, Comparable, Codable, Sendable {
  /// The address in bytes.
  package var rawValue: UInt64

  /// Wraps an address in bytes.
  @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Returns the address `count` bytes further on, or nil if that leaves the address space.
  @inlinable package func advanced(by count: UInt64) -> Self? {
    let (sum, overflow) = rawValue.addingReportingOverflow(count)
    return overflow ? nil : Self(rawValue: sum)
  }
}

/// A distance in bytes from the start of a file.
package struct FileOffset: RawRepresentable, Hashable, Comparable, Codable, Sendable {
  /// The distance in bytes.
  package var rawValue: UInt64

  /// Wraps a distance in bytes.
  @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An address in this process.
package struct RuntimeAddress: RawRepresentable, Hashable, Comparable, Codable, Sendable {
  /// The address in bytes.
  package var rawValue: UInt

  /// Wraps an address in bytes.
  @inlinable package init(rawValue: UInt) { self.rawValue = rawValue }
}

// One order for all of these: by the number.
extension RawRepresentable where Self: Comparable, RawValue: Comparable {
  @inlinable package static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The offset that the loader added to every virtual address of an image: `dlpi_addr`, dyld's slide.
package struct LoadBias: RawRepresentable, Hashable, Sendable {
  /// The difference in bytes, modulo the address space.
  package var rawValue: UInt

  /// Wraps a difference in bytes.
  @inlinable package init(rawValue: UInt) { self.rawValue = rawValue }

  /// Returns the address in this process of `address` in the image.
  @inlinable package func runtimeAddress(of address: VirtualAddress) -> RuntimeAddress {
    RuntimeAddress(rawValue: UInt(truncatingIfNeeded: address.rawValue) &+ rawValue)
  }

  /// Returns the linked address of what is at `address` in this process.
  @inlinable package func virtualAddress(of address: RuntimeAddress) -> VirtualAddress {
    VirtualAddress(rawValue: UInt64(address.rawValue &- rawValue))
  }
}

/// A set of addresses: sorted, disjoint ranges.
///
/// A library may have millions of fixups and three sections that matter; the ranges tell which fixups do.
package struct AddressRanges {
  private let ranges: [Range<UInt64>]

  /// Joins ranges that may overlap, in any order, each with `margin` bytes before it.
  package init(_ ranges: some Collection<Range<UInt64>>, before margin: UInt64 = 0) {
    var result: [Range<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      let start = range.lowerBound - min(range.lowerBound, margin)
      if let last = result.last, start <= last.upperBound {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        result.append(start..<range.upperBound)
      }
    }
    self.ranges = result
  }

  /// Every address.
  package static let all = AddressRanges([0..<UInt64.max])

  /// Returns whether the ranges have every byte of `range`.
  package func covers(_ range: Range<UInt64>) -> Bool {
    guard let found = ranges.last(notAfter: range.lowerBound, by: \.lowerBound) else {
      return range.isEmpty
    }
    return ranges[found].upperBound >= range.upperBound
  }

  /// Returns whether the ranges contain `place`.
  @inline(__always)
  package func contains(_ place: UInt64) -> Bool {
    guard let first = ranges.first, let last = ranges.last,
      place >= first.lowerBound, place < last.upperBound
    else { return false }
    guard ranges.count > 1 else { return true }
    guard let found = ranges.last(notAfter: place, by: \.lowerBound) else { return false }
    return ranges[found].contains(place)
  }

  /// Returns whether one of the ranges can overlap `start` up to `end`.
  package func mayOverlap(_ start: UInt64, _ end: UInt64) -> Bool {
    guard let first = ranges.first, let last = ranges.last else { return false }
    guard end >= start else { return true }
    guard start < last.upperBound, end > first.lowerBound,
      let found = ranges.last(notAfter: end - 1, by: \.lowerBound)
    else { return false }
    return ranges[found].upperBound > start
  }

  /// The gaps between the ranges, and those before and after them.
  package var gaps: [Range<UInt64>] {
    zip([0] + ranges.map(\.upperBound), ranges.map(\.lowerBound) + [.max]).map { $0..<$1 }
  }
}

extension Array {
  /// Returns the index of the first element that satisfies `isReached`, or the count if no element does. All later
  /// elements must satisfy it too.
  @inline(__always)
  package func sortedIndex(where isReached: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Returns the index of the last element whose key is not above `bound`, in a list sorted by that key.
  @inline(__always)
  package func last(notAfter bound: UInt64, by key: (Element) -> UInt64) -> Int? {
    let next = sortedIndex(where: { key($0) > bound })
    return next > 0 ? next - 1 : nil
  }

  /// Returns the element with this key, in a list sorted by it.
  @inline(__always)
  package func element(at place: UInt64, by key: (Element) -> UInt64) -> Element? {
    last(notAfter: place, by: key).flatMap { key(self[$0]) == place ? self[$0] : nil }
  }

  /// Sorts by a key. Of elements that share a key, each is joined to the earlier one.
  package mutating func settle(
    by key: (Element) -> UInt64, joining: (_ earlier: inout Element, _ later: Element) -> Void
  ) {
    guard zip(self, dropFirst()).contains(where: { key($0) >= key($1) }) else { return }
    // The sort keeps the order of elements that share a key.
    sort { key($0) < key($1) }
    var result: [Element] = []
    for element in self {
      if let last = result.last, key(last) == key(element) {
        joining(&result[result.count - 1], element)
      } else {
        result.append(element)
      }
    }
    self = result
  }
}
