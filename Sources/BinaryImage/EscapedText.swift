// Text of a file or an image as it may be shown to a terminal or written to a log: the one rule for the
// tool, the library and its errors.
extension String {
  /// The text with control bytes and invisible characters as `\x1b` or `\u{202e}`.
  ///
  /// A name in a hostile file must not move the cursor, change colours, begin a line or reverse one.
  /// Escaping twice changes nothing.
  package var escaped: String {
    if utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return self }
    var result = ""
    for scalar in unicodeScalars {
      guard scalar.isUnprintable else {
        result.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      if scalar.value < 0x80 {
        result += digits.utf8.count == 1 ? "\\x0\(digits)" : "\\x\(digits)"
      } else {
        result += "\\u{\(digits)}"
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Whether a terminal would act on it, or show nothing where there is something.
  package var isUnprintable: Bool {
    if value < 0xa0 { return value < 0x20 || value >= 0x7f }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: false
    }
  }
}
