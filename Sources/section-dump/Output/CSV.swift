internal import BinaryImage

/// Lines of comma-separated values, as RFC 4180 quotes them.
///
/// Control bytes are escaped as in tables, so a line is a row and a terminal is safe; the JSON
/// formats keep every byte.
enum CSV {
  static func write(_ fields: [String], to sink: ByteSink) {
    var line = ""
    for (index, field) in fields.enumerated() {
      if index > 0 { line += "," }
      let text = field.escaped
      if text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }) {
        line += "\""
        for character in text {
          if character == "\"" { line += "\"" }
          line.append(character)
        }
        line += "\""
      } else {
        line += text
      }
    }
    sink.write(line + "\n")
  }
}
