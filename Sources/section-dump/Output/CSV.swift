internal import BinaryImage

/// Lines of comma-separated values, as RFC 4180 quotes them.
///
/// Control bytes are escaped as in tables, so a line is a row and a terminal is safe; the JSON
/// formats keep every byte.
enum CSV {
  static func write(_ fields: [String], to sink: ByteSink) {
    let line = fields.map { field in
      let text = field.escaped
      let isPlain = text.utf8.allSatisfy { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
      return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }
    sink.write(line.joined(separator: ",") + "\n")
  }
}
