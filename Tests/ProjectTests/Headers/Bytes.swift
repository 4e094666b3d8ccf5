/// Bytes of an object file, in the byte order of its machine.
struct Bytes {
  /// A violation in a file or its annotations. The message describes it.
  struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private let bytes: ArraySlice<UInt8>
  private let isBigEndian: Bool

  init(_ bytes: some Sequence<UInt8>, isBigEndian: Bool) {
    self.bytes = ArraySlice(bytes)
    self.isBigEndian = isBigEndian
  }

  var count: Int { bytes.count }

  /// Returns a part of the bytes.
  func part(at offset: Int, count: Int) throws -> Self {
    guard offset >= 0, count >= 0, count <= self.count - offset else {
      throw Fault("\(count) bytes at \(offset) of \(self.count)")
    }
    let start = bytes.startIndex + offset
    return Self(bytes[start..<start + count], isBigEndian: isBigEndian)
  }

  /// Returns an unsigned number of one to eight bytes. No number that the tests read is larger than `Int`.
  func number(at offset: Int, size: Int = 4) throws -> Int {
    let part = try part(at: offset, count: size).bytes
    let number = (isBigEndian ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
    guard let number = Int(exactly: number) else { throw Fault("\(number) at \(offset)") }
    return number
  }

  /// Returns the text up to the next NUL.
  func text(at offset: Int) throws -> String {
    let rest = try part(at: offset, count: count - offset).bytes.prefix { $0 != 0 }
    return String(decoding: rest, as: UTF8.self)
  }

  /// Returns the texts between NULs, and the number of NULs at the end.
  func texts() throws -> (texts: [String], padding: Int) {
    let end = (bytes.lastIndex { $0 != 0 } ?? bytes.startIndex - 1) + 1
    let texts = try bytes[..<end].split(separator: 0, omittingEmptySubsequences: false).map {
      guard let text = String(validating: $0, as: UTF8.self) else { throw Fault("no UTF-8") }
      return text
    }
    return (texts, bytes.endIndex - end)
  }
}
