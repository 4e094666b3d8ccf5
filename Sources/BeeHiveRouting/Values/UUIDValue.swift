/// A UUID without Foundation: 128 bits, written in the usual 36 characters.
///
/// `UUID(uuidString: value.description)` is Foundation's.
public struct UUIDValue: Hashable, Sendable, URLConvertible, CustomStringConvertible {
  /// The first eight bytes, the first one highest.
  public let high: UInt64
  /// The last eight bytes.
  public let low: UInt64

  /// Reads a UUID; nil where the text is none.
  ///
  /// - Parameter urlText: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, of either case.
  public init?(urlText: String) {
    guard let text = UUIDText(urlText) else { return nil }
    (high, low) = (text.high, text.low)
  }

  /// The UUID in capital letters, as Foundation writes it.
  public var urlText: String { description }

  /// The UUID in capital letters, as Foundation writes it.
  public var description: String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for index in 0..<32 {
      if [8, 12, 16, 20].contains(index) { bytes.append(UInt8(ascii: "-")) }
      let word = index < 16 ? high : low
      bytes.append(digits[Int(word >> UInt64(60 - index % 16 * 4) & 15)])
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
