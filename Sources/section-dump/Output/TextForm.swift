internal import BinaryImage
internal import Registration

/// The escapes of a text, which keep it apart from what is around it.
struct TextForm {
  /// A cell of a table, or a field of CSV without quotes: `\` and bytes that are not UTF-8 are escaped, too.
  static let cell = TextForm(escapes: "\\", isJSON: false)
  /// A field of CSV between quotes.
  static let quotedCell = TextForm(escapes: "\\\"", isJSON: false)
  /// A message or another text of the tool, which may have escapes already.
  static let message = TextForm(escapes: "", isJSON: false)
  /// A message between quotes.
  static let quotedMessage = TextForm(escapes: "\"", isJSON: false)
  /// A string of JSON.
  static let json = TextForm(escapes: "\\\"", isJSON: true)

  fileprivate let isJSON: Bool
  // The bytes that need no escape: a bit for each of the first 64, and of the next 64.
  private var low: UInt64 = .max << 32
  private var high: UInt64 = .max >> 1

  private init(escapes: String, isJSON: Bool) {
    self.isJSON = isJSON
    for byte in escapes.utf8 {
      if byte < 64 { low &= ~(1 << UInt64(byte)) } else { high &= ~(1 << UInt64(byte - 64)) }
    }
  }

  /// Returns the position of the first byte from `start` on that needs an escape.
  @inline(__always)
  fileprivate func endOfPlain(_ text: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < text.count {
      let byte = text[index]
      let known = byte < 64 ? low : byte < 128 ? high : 0
      guard known >> UInt64(byte & 63) & 1 != 0 else { break }
      index += 1
    }
    return index
  }
}

extension ByteSink {
  /// Writes a text of a file; returns whether all of it is UTF-8.
  @discardableResult
  func write(_ text: Span<UInt8>, as form: TextForm) -> Bool {
    var (index, isUTF8) = (0, true)
    while true {
      let end = form.endOfPlain(text, from: index)
      write(text.extracting(index..<end))
      guard end < text.count else { return isUTF8 }
      let (scalar, length) = text.scalar(at: end)
      index = end + length
      if let scalar {
        write(scalar, as: form)
      } else if form.isJSON {
        isUTF8 = false
        write(word: "\u{fffd}")
      } else {
        isUTF8 = false
        for byte in end..<index {
          write(word: "\\x")
          write(digitsOf: text.extracting(byte..<byte + 1))
        }
      }
    }
  }

  @discardableResult
  func write(_ text: String, as form: TextForm) -> Bool { write(text.utf8Span.span, as: form) }

  /// Writes a character that may need an escape.
  private func write(_ scalar: Unicode.Scalar, as form: TextForm) {
    if form.isJSON { return write(scalar.textInJSON) }
    switch scalar {
    case "\\": write(word: "\\\\")
    case "\"": write(word: "\"\"")
    default: write(String(scalar).escaped)
    }
  }
}

extension Span<UInt8> {
  /// Returns the character at `index` and the number of its bytes; nil if these bytes are no UTF-8.
  fileprivate func scalar(at index: Int) -> (scalar: Unicode.Scalar?, length: Int) {
    if self[index] < 0x80 { return (Unicode.Scalar(self[index]), 1) }
    var bytes = (index..<Swift.min(index + 4, count)).map { self[$0] }.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    return switch parser.parseScalar(from: &bytes) {
    case .valid(let encoded): (Unicode.UTF8.decode(encoded), encoded.count)
    case .error(let length): (nil, length)
    case .emptyInput: (nil, 1)
    }
  }
}
