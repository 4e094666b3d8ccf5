internal import Registration

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
  /// The hash of the shortest form of a written name: equal for all names that could mean one service.
  static func lastHash(of name: String) -> UInt32 {
    NameHash.of((TypeName(name).suffixes.last ?? name).utf8Span.span, .service)
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
