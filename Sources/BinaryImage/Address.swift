/// An address as the linker assigned it, before any load bias; relative to its section in objects.
///
/// ELF: `p_vaddr`, `sh_addr`, `st_value`. Mach-O: `vmaddr`.
public struct VirtualAddress: RawRepresentable, Hashable, Comparable, Codable, Sendable {
  /// The address in bytes.
  public var rawValue: UInt64

  /// Wraps an address in bytes.
  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Orders by address.
  @inlinable public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The address `count` bytes further on, or nil where that leaves the address space.
  @inlinable public func advanced(by count: UInt64) -> Self? {
    let (sum, overflow) = rawValue.addingReportingOverflow(count)
    return overflow ? nil : Self(rawValue: sum)
  }
}

/// A distance in bytes from the start of a file.
public struct FileOffset: RawRepresentable, Hashable, Comparable, Codable, Sendable {
  /// The distance in bytes.
  public var rawValue: UInt64

  /// Wraps a distance in bytes.
  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Orders by distance.
  @inlinable public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// An address in this process.
package struct RuntimeAddress: RawRepresentable, Hashable, Comparable, Codable, Sendable {
  /// The address in bytes.
  package var rawValue: UInt

  /// Wraps an address in bytes.
  @inlinable package init(rawValue: UInt) { self.rawValue = rawValue }

  /// Orders by address.
  @inlinable package static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// What the loader added to every virtual address of an image: `dlpi_addr`, dyld's slide.
package struct LoadBias: RawRepresentable, Hashable, Sendable {
  /// The difference in bytes, modulo the address space.
  package var rawValue: UInt

  /// Wraps a difference in bytes.
  @inlinable package init(rawValue: UInt) { self.rawValue = rawValue }

  /// Where `address` of the image is in this process.
  @inlinable package func runtimeAddress(of address: VirtualAddress) -> RuntimeAddress {
    RuntimeAddress(rawValue: UInt(truncatingIfNeeded: address.rawValue) &+ rawValue)
  }

  /// The linked address of what is at `address` in this process.
  @inlinable package func virtualAddress(of address: RuntimeAddress) -> VirtualAddress {
    VirtualAddress(rawValue: UInt64(address.rawValue &- rawValue))
  }
}
