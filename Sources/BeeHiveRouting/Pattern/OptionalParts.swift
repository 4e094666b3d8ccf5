internal import Registration

/// Writes out the forms of a pattern whose parts in parentheses may be there or not.
enum OptionalParts {
  /// Every form, that with all parts first.
  static func forms(
    of path: Substring, in reader: PatternReader
  ) throws(RoutingError) -> [String] {
    guard path.cut(at: "(") != nil || path.cut(at: ")") != nil else { return [String(path)] }
    var rest = path.unicodeScalars
    let forms = try sequence(&rest, depth: 0, in: reader)
    guard rest.isEmpty else { throw reader.bad(") has no (") }
    return forms
  }

  /// The forms up to the end, or to a parenthesis that somebody else opened.
  private static func sequence(
    _ rest: inout Substring.UnicodeScalarView, depth: Int, in reader: PatternReader
  ) throws(RoutingError) -> [String] {
    // Each level makes one form more; said before the stack is used up.
    guard depth < PatternReader.mostVariants else { throw tooMany(reader) }
    var forms = [""]
    while let next = rest.first, next != ")" {
      if next == "(" {
        rest = rest.dropFirst()
        let inner = try sequence(&rest, depth: depth + 1, in: reader)
        guard rest.first == ")" else { throw reader.bad("( has no )") }
        rest = rest.dropFirst()
        forms = forms.flatMap { form in inner.map { form + $0 } + [form] }
      } else {
        let plain = rest.prefix { $0 != "(" && $0 != ")" }
        rest = rest.dropFirst(plain.count)
        forms = forms.map { $0 + Substring(plain) }
      }
      guard forms.count <= PatternReader.mostVariants else { throw tooMany(reader) }
    }
    return forms
  }

  private static func tooMany(_ reader: PatternReader) -> RoutingError {
    reader.bad("its optional parts make more than \(PatternReader.mostVariants) forms")
  }
}
