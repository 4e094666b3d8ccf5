internal import Threads

/// A type's name as a person writes it: `Shop.Greeter`, `Shop.Cart.Item`, `Greeter`.
///
/// Equal names have equal text: spaces are normalised, `any` is dropped, and so are the parentheses
/// and the `.self` of `(any Greeter).self`. Generic arguments stay as written, except for spaces;
/// `[Int]` and `Array<Int>` are different texts.
package struct TypeName: Hashable, Sendable {
  /// The normalised text.
  let text: String

  /// Normalises what an author wrote; every text is accepted, also one that names nothing.
  init(_ written: String) {
    let isNormal = NameText.isPlain(written) && !written.hasSuffix(".self")
    text = isNormal ? written : NameText.normalised(written)
  }

  /// The identifiers from the outermost one, without generic arguments, as images hold them.
  ///
  /// Nil where the text is no dotted name: a composition, a tuple, a function type, an empty part.
  var path: [String]? { NameText.path(text) }

  /// The last component of the path, found without the others; nil where there is no path.
  var last: Substring? { NameText.last(text) }

  /// The forms in which a record may name the type whose whole name this is, the longest first.
  ///
  /// `Shop.Cart.Item` is also `Cart.Item` and `Item`.
  var suffixes: [String] { NameText.suffixes(text) }
}

extension TypeName {
  /// The last part of a written name: equal for all names that could mean one service.
  static func end(of name: String) -> String {
    let name = TypeName(name)
    return name.last.map(String.init) ?? name.text
  }

  /// Returns whether two written names could mean one service: one ends in the other.
  package static func couldMeanTheSame(_ name: String, _ other: String) -> Bool {
    name == other || TypeName(other).suffixes.contains(name)
      || TypeName(name).suffixes.contains(other)
  }
}

extension TypeName: CustomStringConvertible {
  /// The normalised text.
  package var description: String { text }
}

/// The names that a record may have for a known type: the texts that `TypeName` makes of them.
struct TypeSpelling: Hashable, Sendable {
  /// `Shop.Greeter`, `Shop.Cart.Item`, `Shop.Cache<Swift.Int, Shop.Value>`.
  let qualified: String
  /// `Greeter`, `Item`, `Cache<Int, Value>`.
  let unqualified: String
  /// Every form in which a record may name the type, the longest first, each once.
  ///
  /// `Shop.Cart.Item`, `Cart.Item`, `Item`; the arguments of a generic type are part of both forms.
  let all: [String]

  /// The spelling of a type, asked of the runtime once and then remembered.
  ///
  /// Existential types are named without `any`, private types without the file they are private to.
  static func of(_ type: any Any.Type) -> Self {
    // A type lives as long as the process, so its identity is a key.
    let key = ObjectIdentifier(type)
    if let spelling = known.withLock({ $0[key] }) { return spelling }
    // Outside the lock: two threads may both ask, and get the same answer.
    let spelling = TypeSpelling(type)
    known.withLock { $0[key] = spelling }
    return spelling
  }

  private static let known = Lock<[ObjectIdentifier: TypeSpelling]>([:])

  private init(_ type: any Any.Type) {
    let whole = TypeName(NameText.withoutContexts(_typeName(type, qualified: true)))
    let last = TypeName(NameText.withoutContexts(_typeName(type, qualified: false)))
    qualified = whole.text
    unqualified = last.text
    var forms = [whole.text]
    // Where the arguments are qualified, authors who are inside the module write them short.
    let short = TypeName(NameText.withShortArguments(whole.text))
    for form in short.suffixes + whole.suffixes + [last.text] where !forms.contains(form) {
      forms.append(form)
    }
    all = forms
  }
}

extension NameText {
  /// A name as the runtime prints it, without what no author can write.
  ///
  /// `Shop.(Greeter in _7A3F)` and `Shop.(unknown context at $7f16).Greeter` become `Shop.Greeter`,
  /// `(extension in Shop):Swift.String.Form` becomes `Swift.String.Form`, and
  /// `any Feed<Self.Shop.Feed.Item == Swift.Int>` becomes `any Feed<Swift.Int>`.
  static func withoutContexts(_ printed: String) -> String {
    var output = ""
    var rest = printed[...]
    while let character = rest.first {
      if let after = drop("(unknown context at ", through: ").", from: rest) {
        rest = after
      } else if let after = drop("(extension in ", through: "):", from: rest) {
        rest = after
      } else if let after = drop("Self.", through: " == ", from: rest), output.last != "." {
        rest = after
      } else if character == "(", let name = privateName(rest) {
        output += name.text
        rest = name.rest
      } else {
        output.append(character == noBreakSpace ? " " : character)
        rest.removeFirst()
      }
    }
    return output
  }

  /// The name with every dotted name inside its generic arguments cut to the last part.
  static func withShortArguments(_ text: String) -> String {
    var output = ""
    var word = ""
    var depth = 0
    for character in text {
      switch character {
      case "." where depth > 0: word = ""
      case _ where character.utf8.allSatisfy(isIdentifier): word.append(character)
      default:
        output += word
        word = ""
        output.append(character)
        if character == "<" { depth += 1 }
        if character == ">", !output.hasSuffix("->") { depth -= 1 }
      }
    }
    return output + word
  }

  /// Returns the rest of a text after `end` if the text starts with `start`.
  private static func drop(_ start: String, through end: String, from text: Substring) -> Substring?
  {
    guard text.hasPrefix(start) else { return nil }
    let rest = text.dropFirst(start.count)
    let index = rest.indices.first { rest[$0...].hasPrefix(end) }
    return index.map { rest[$0...].dropFirst(end.count) }
  }

  /// `Greeter` of `(Greeter in _7A3F)`, and what follows it.
  private static func privateName(_ text: Substring) -> (text: Substring, rest: Substring)? {
    let name = text.dropFirst().prefix { $0 != " " }
    guard let rest = drop("(\(name) in ", through: ")", from: text) else { return nil }
    return (name, rest)
  }
}
