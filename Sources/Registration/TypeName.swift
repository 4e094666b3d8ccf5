/// A type's name as a person writes it: `Shop.Greeter`, `Shop.Cart.Item`, `Greeter`.
///
/// Equal names have equal text: spaces are normalised, `any` is dropped, and so are the parentheses
/// and the `.self` of `(any Greeter).self`. Generic arguments stay as written, except for spaces;
/// `[Int]` and `Array<Int>` are different texts.
package struct TypeName: Hashable, Sendable {
  /// The normalised text.
  package let text: String

  /// Normalises what an author wrote. Accepts every text, even one that names nothing.
  package init(_ written: String) {
    let isNormal = written.isPlain && !written.hasSuffix(".self")
    text = isNormal ? written : Self.text(written.tokens)
  }

  /// Normalises a name as the runtime prints it, without the parts that no author can write.
  package init(printed: String) {
    let written = String(printed.map { $0 == noBreakSpace ? " " : $0 })
    text = written.isPlain ? written : Self.text(written.tokens.withoutContexts)
  }

  private static func text(_ written: ArraySlice<Substring>) -> String {
    var tokens = written
    if tokens.suffix(2) == [".", "self"] { tokens = tokens.dropLast(2) }
    while let inner = tokens.parenthesised { tokens = inner }
    // The order of a composition's parts means nothing, so it is always the same one.
    return tokens.parts(at: "&").map(\.text).sorted().joined(separator: " & ")
  }

  /// The identifiers from the outermost one, without generic arguments, as images hold them.
  ///
  /// Nil if the text is not a dotted name: a composition, a tuple, a function type, an empty part.
  package var path: [String]? {
    let parts = text.tokens.parts(at: ".")
    let path = parts.compactMap(\.identifier)
    return path.count == parts.count ? path : nil
  }

  /// The last component of the path, found without the others; nil if there is no path.
  package var last: Substring? {
    text.isPlain ? plainParts?.last : path?.last.map { $0[...] }
  }

  /// The components of identifiers and dots; nil if one is empty. Nearly every name is that plain.
  private var plainParts: [Substring]? {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.contains(where: \.isEmpty) ? nil : parts.map { Substring($0) }
  }

  /// The names that a record may use for the type with this whole name, the longest first.
  ///
  /// `Shop.Cart.Item` is also `Cart.Item` and `Item`.
  package var suffixes: [String] {
    let parts =
      text.isPlain
      ? plainParts : path.map { _ in text.tokens.parts(at: ".").compactMap(\.first) }
    return parts?.map { String(text[$0.startIndex...]) } ?? [text]
  }

  /// The parts of a composition; the name itself if it is not one.
  package var composed: [TypeName] { text.tokens.parts(at: "&").map { TypeName($0.text) } }

  /// The same with every dotted name inside its generic arguments cut to the last part.
  package var withShortArguments: TypeName {
    var short: ArraySlice<Substring> = []
    var depth = 0
    for token in text.tokens {
      if token == "<" { depth += 1 }
      if token == ">" { depth -= 1 }
      if depth > 0, token == ".", short.last?.isWord == true {
        short.removeLast()
      } else {
        short.append(token)
      }
    }
    return TypeName(short.text)
  }
}

extension TypeName {
  /// Returns the last part of a written name. It is equal for all names that could mean one service.
  package static func end(of name: String) -> String {
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

/// The spelling of a space in the names that images hold.
private let noBreakSpace: Character = "\u{a0}"

extension String {
  /// Whether the text has only identifiers and dots.
  fileprivate var isPlain: Bool {
    utf8.allSatisfy { $0.isOfIdentifier || $0 == UInt8(ascii: ".") }
  }

  /// The words and signs of a written name: identifiers, names in backticks, arrows, and single characters, without
  /// spaces, `any` and `some`.
  ///
  /// Works on UTF-8: everything that has a meaning here is ASCII.
  fileprivate var tokens: ArraySlice<Substring> {
    var tokens: ArraySlice<Substring> = []
    var rest = self[...]
    while let byte = rest.utf8.first {
      let next = rest.utf8.index(after: rest.startIndex)
      var end = next
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        rest = rest[next...]
        continue
      case UInt8(ascii: "`"):
        let last = rest.utf8[next...].firstIndex(of: byte)
        end = last.map { rest.utf8.index(after: $0) } ?? rest.endIndex
      case UInt8(ascii: "-") where rest.utf8[next...].first == UInt8(ascii: ">"):
        end = rest.utf8.index(after: next)
      case _ where byte.isOfIdentifier:
        end = rest.utf8.firstIndex { !$0.isOfIdentifier } ?? rest.endIndex
      default: break
      }
      let token = rest[..<end]
      rest = rest[end...]
      // `any P` and `any(P)`, but not `any.P`.
      let isKeyword = (token == "any" || token == "some") && tokens.last != "."
      if isKeyword, let next = rest.utf8.first, " \t(".utf8.contains(next) { continue }
      tokens.append(token)
    }
    return tokens
  }
}

extension UInt8 {
  /// Whether the byte may be part of an identifier; every byte above ASCII may.
  fileprivate var isOfIdentifier: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}

extension Substring {
  /// Whether a token is an identifier.
  fileprivate var isWord: Bool { utf8.first.map(\.isOfIdentifier) == true }
}

extension ArraySlice<Substring> {
  /// The text of tokens: one space between words, one after a comma, one around `&` and `->`.
  fileprivate var text: String {
    var text = ""
    var isAfterWord = false
    for token in self {
      switch token {
      case ",", ":": text += "\(token) "
      case "&", "->": text += " \(token) "
      default: text += isAfterWord && token.isWord ? " \(token)" : token
      }
      isAfterWord = token.isWord
    }
    return text
  }

  /// The parts between the separators outside all brackets.
  fileprivate func parts(at separator: Substring) -> [ArraySlice<Substring>] {
    var depth = 0
    return split(omittingEmptySubsequences: false) { token in
      switch token {
      case "<", "(", "[": depth += 1
      case ">", ")", "]": depth -= 1
      default: break
      }
      return depth == 0 && token == separator
    }
  }

  /// The tokens between the parentheses that enclose all; nil for a tuple or a function.
  fileprivate var parenthesised: ArraySlice<Substring>? {
    let inner = dropFirst().dropLast()
    // `(A) & (B)`: the first parenthesis closes before the end.
    guard first == "(", last == ")", parts(at: ")").count == 2, !inner.isEmpty,
      inner.parts(at: ",").count == 1
    else { return nil }
    return inner
  }

  /// The identifier of a part of a dotted name, as images hold it; nil if more than arguments follow.
  fileprivate var identifier: String? {
    guard let name = first, count == 1 || (dropFirst().first == "<" && last == ">") else {
      return nil
    }
    if name.isWord { return String(name) }
    guard name.first == "`", name.last == "`", name.count > 2 else { return nil }
    let inner = name.dropFirst().dropLast()
    // Backticks that only escape a keyword are gone in the image; those of a raw identifier stay,
    // and no-break spaces are its spaces.
    let isEscaped = inner.utf8.allSatisfy(\.isOfIdentifier) && inner.first?.isWholeNumber == false
    return isEscaped ? String(inner) : String(name.map { $0 == " " ? noBreakSpace : $0 })
  }

  /// The tokens of a name that the runtime printed, without the parts that no author can write.
  ///
  /// `Shop.(Greeter in _7A3F)` and `Shop.(unknown context at $7f16).Greeter` become `Shop.Greeter`,
  /// `(extension in Shop):Swift.String.Form` becomes `Swift.String.Form`, and
  /// `any Feed<Self.Shop.Feed.Item == Swift.Int>` becomes `any Feed<Swift.Int>`.
  fileprivate var withoutContexts: ArraySlice<Substring> {
    var tokens: ArraySlice<Substring> = []
    var rest = self
    while let token = rest.first {
      if rest.starts(with: ["(", "unknown", "context", "at"]) {
        // With the address, the parenthesis and the dot.
        rest = rest.dropFirst(7)
      } else if rest.starts(with: ["(", "extension", "in"]) {
        rest = rest.dropFirst(6)
      } else if token == "(", rest.dropFirst(2).first == "in" {
        tokens += rest.dropFirst().prefix(1)
        rest = rest.dropFirst(5)
      } else if token == "Self", tokens.last != ".", let sign = rest.firstIndex(of: "=") {
        rest = rest[sign...].dropFirst(2)
      } else {
        tokens.append(token)
        rest = rest.dropFirst()
      }
    }
    return tokens
  }
}
