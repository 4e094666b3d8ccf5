/// Writes out the forms of a pattern whose parts in parentheses may be there or not.
enum OptionalParts {
  /// Every form, that with all parts first.
  static func forms(of path: Substring) throws(TextProblem) -> [String] {
    guard path.cut(at: "(") != nil || path.cut(at: ")") != nil else { return [String(path)] }
    var rest = path.unicodeScalars
    let forms = try sequence(&rest, depth: 0)
    try TextProblem.check(rest.isEmpty, 0, ") has no (")
    return forms
  }

  /// The forms up to the end, or to a parenthesis that somebody else opened.
  private static func sequence(
    _ rest: inout Substring.UnicodeScalarView, depth: Int
  ) throws(TextProblem) -> [String] {
    // Each level makes one form more; said before the stack is used up.
    guard depth < PatternReader.mostVariants else { throw tooMany }
    var forms = [""]
    while let next = rest.first, next != ")" {
      if next == "(" {
        rest = rest.dropFirst()
        let inner = try sequence(&rest, depth: depth + 1)
        try TextProblem.check(rest.first == ")", 0, "( has no )")
        rest = rest.dropFirst()
        // Counted before they are made: each is as long as the pattern.
        guard forms.count * (inner.count + 1) <= PatternReader.mostVariants else { throw tooMany }
        forms = forms.flatMap { form in inner.map { joined(form, $0) } + [form] }
      } else {
        let plain = Substring(rest.prefix { $0 != "(" && $0 != ")" })
        rest = rest.dropFirst(plain.unicodeScalars.count)
        forms = forms.map { joined($0, plain) }
      }
    }
    return forms
  }

  /// Separates a name from the edge of an optional part. No pattern contains it.
  static let edge: Unicode.Scalar = "\u{1}"

  private static func joined(_ form: String, _ next: some StringProtocol) -> String {
    guard let last = form.last, let first = next.first, first.isNamePart || first == "<",
      last.isNamePart || ":*<".contains(last)
    else { return form + next }
    return form + String(edge) + next
  }

  private static let tooMany = TextProblem(
    0, "its optional parts make more than \(PatternReader.mostVariants) forms")
}
