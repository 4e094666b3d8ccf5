/// A shell pattern for names: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before what means itself.
///
/// `fnmatch` takes exponential time on some names; names here come from files that may be hostile.
struct NamePattern {
  /// The characters that a place may have, or may not; nil for any text.
  private typealias Element = (ranges: [ClosedRange<Unicode.Scalar>], isNegated: Bool)

  private var elements: [Element?] = []
  /// Whether the pattern means nothing but itself.
  let isLiteral: Bool
  /// Whether a section is found by it in a list of all alone: a segment is no part of the name that sections are found
  /// by, and bytes that are no UTF-8 are no part of a pattern.
  let isListed: Bool

  init(_ pattern: String) {
    isLiteral = !pattern.unicodeScalars.contains { ["*", "?", "[", "\\"].contains($0) }
    isListed = !isLiteral || pattern.unicodeScalars.contains { [",", "\u{fffd}"].contains($0) }
    var rest = Substring(pattern).unicodeScalars
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": elements.append(nil)
      case "?": elements.append(([], true))
      case "[":
        if let set = Self.set(&rest) { elements.append(set) } else { fallthrough }
      default:
        let escaped = scalar == "\\" ? rest.popFirst() : nil
        let itself = escaped ?? scalar
        elements.append(([itself...itself], false))
      }
    }
  }

  /// Whether the whole name matches; at most `elements * name` steps.
  func matches(_ name: String) -> Bool {
    let scalars = Array(name.unicodeScalars)
    var (element, position) = (0, 0)
    // Where the last `*` is, and how much of the name it has taken.
    var star: (element: Int, position: Int)?
    while element < elements.count || position < scalars.count {
      if element < elements.count, elements[element] == nil {
        star = (element, position)
        element += 1
      } else if element < elements.count, position < scalars.count,
        let (ranges, isNegated) = elements[element],
        ranges.contains(where: { $0.contains(scalars[position]) }) != isNegated
      {
        element += 1
        position += 1
      } else if let last = star, last.position < scalars.count {
        star = (last.element, last.position + 1)
        (element, position) = (last.element + 1, last.position + 1)
      } else {
        return false
      }
    }
    return true
  }

  /// The set behind a `[`; nil, and nothing taken, where no `]` closes it.
  private static func set(_ rest: inout Substring.UnicodeScalarView) -> Element? {
    var scalars = rest
    let isNegated = scalars.first == "!" || scalars.first == "^"
    if isNegated { scalars.removeFirst() }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    while let first = scalars.popFirst() {
      // A `]` that is first is a member.
      if first == "]", !ranges.isEmpty {
        rest = scalars
        return (ranges, isNegated)
      }
      var (tail, last) = (scalars, first)
      if tail.popFirst() == "-", let end = tail.popFirst(), end != "]" {
        (scalars, last) = (tail, end)
      }
      ranges.append(min(first, last)...max(first, last))
    }
    return nil
  }
}
