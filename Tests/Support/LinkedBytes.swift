public import Foundation
import Testing

/// A 64-bit ELF file in this machine's byte order, to be changed word by word.
public struct LinkedBytes: Sendable {
  private let url: URL
  /// The current bytes.
  public private(set) var bytes: [UInt8]

  /// Reads a file.
  public init(_ path: String) throws {
    url = URL(fileURLWithPath: path)
    bytes = [UInt8](try Data(contentsOf: url))
  }

  /// Writes the bytes to another location, or over the file.
  public func write(to other: URL? = nil) throws { try Data(bytes).write(to: other ?? url) }

  /// Returns a number of `size` bytes.
  public func number(at place: Int, size: Int = 8) -> Int {
    (0..<size).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
  }

  /// Returns the text up to the next NUL.
  public func text(at place: Int) -> String {
    String(decoding: bytes[place...].prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Replaces a number of `size` bytes.
  public mutating func put(_ value: Int, at place: Int, size: Int = 8) {
    for index in 0..<size { bytes[place + index] = UInt8(truncatingIfNeeded: value >> (index * 8)) }
  }

  /// Appends bytes, and returns their offset.
  public mutating func append(_ more: [UInt8]) -> Int {
    bytes += [UInt8](repeating: 0, count: -bytes.count & 15) + more
    return bytes.count - more.count
  }

  /// Returns the names of the sections, and the offsets of their headers.
  public func sections() -> [(name: String, header: Int)] {
    let table = number(at: 40)
    let names = number(at: table + number(at: 62, size: 2) * 64 + 24)
    return (0..<number(at: 60, size: 2)).map { table + $0 * 64 }.map { header in
      (text(at: names + number(at: header, size: 4)), header)
    }
  }

  /// Returns the file offsets of the program headers of a type.
  public func segments(_ type: Int) -> [Int] {
    (0..<number(at: 56, size: 2)).map { number(at: 32) + 56 * $0 }
      .filter { number(at: $0, size: 4) == type }
  }

  /// Returns the file offset of an address.
  public func place(of address: Int) throws -> Int {
    let load = segments(1).last { number(at: $0 + 16) <= address }
    return try number(at: #require(load) + 8) + address - number(at: #require(load) + 16)
  }

  /// Returns the part of the file that is its one dynamic section.
  public func dynamic() throws -> Range<Int> {
    let header = try #require(segments(2).first)
    return number(at: header + 8)..<number(at: header + 8) + number(at: header + 32)
  }

  /// Returns the offset of a tag of the dynamic section. The tag's value follows it.
  public func tag(_ tag: Int) throws -> Int {
    try #require(
      stride(from: dynamic().lowerBound, to: dynamic().upperBound, by: 16)
        .first { number(at: $0) == tag })
  }

  /// Returns the value of a tag.
  public func value(_ tag: Int) throws -> Int { number(at: try self.tag(tag) + 8) }
}
