/// A shell pattern for names: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before what means itself.
///
/// `fnmatch` takes exponential time on some names; names here come from files that may be hostile.
struct NamePattern {
  private enum Element {
    case anyText
    case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)

    static func one(_ scalar: Unicode.Scalar) -> Self { .set([scalar...scalar], isNegated: false) }

    func matches(_ scalar: Unicode.Scalar) -> Bool {
      guard case .set(let ranges, let isNegated) = self else { return false }
      return ranges.contains { $0.contains(scalar) } != isNegated
    }
  }

  private var elements: [Element] = []

  init(_ pattern: String) {
    var rest = Substring(pattern).unicodeScalars
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": elements.append(.anyText)
      case "?": elements.append(.set([], isNegated: true))
      case "\\": elements.append(.one(rest.popFirst() ?? "\\"))
      case "[": elements.append(Self.set(&rest) ?? .one("["))
      default: elements.append(.one(scalar))
      }
    }
  }

  /// The one name that matches; nil where several may.
  var literal: String? {
    var scalars = String.UnicodeScalarView()
    for element in elements {
      guard case .set(let ranges, isNegated: false) = element, let only = ranges.first,
        ranges.count == 1, only.lowerBound == only.upperBound
      else { return nil }
      scalars.append(only.lowerBound)
    }
    return String(scalars)
  }

  /// Whether the whole name matches; at most `elements * name` steps.
  func matches(_ name: String) -> Bool {
    let scalars = Array(name.unicodeScalars)
    var (element, position) = (0, 0)
    // Where the last `*` is, and how much of the name it has taken.
    var star: (element: Int, position: Int)?
    while position < scalars.count {
      if element < elements.count, case .anyText = elements[element] {
        star = (element, position)
        element += 1
      } else if element < elements.count, elements[element].matches(scalars[position]) {
        element += 1
        position += 1
      } else if let last = star {
        star = (last.element, last.position + 1)
        (element, position) = (last.element + 1, last.position + 1)
      } else {
        return false
      }
    }
    while element < elements.count, case .anyText = elements[element] { element += 1 }
    return element == elements.count
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
        return .set(ranges, isNegated: isNegated)
      }
      var tail = scalars
      if tail.popFirst() == "-", let last = tail.popFirst(), last != "]" {
        scalars = tail
        ranges.append(min(first, last)...max(first, last))
      } else {
        ranges.append(first...first)
      }
    }
    return nil
  }
}
