internal import Registration

/// Under which names a record may declare a service, and which names could mean the same one.
enum ServiceNames {
  /// Every way to write the name of a type, and what messages call it.
  static func of(_ type: Any.Type) -> TypeSpelling { TypeSpelling.of(type) }

  /// The forms of a written name: `Shop.Greeter` may also be asked for as `Greeter`.
  static func forms(of name: String) -> [String] { TypeName(name).suffixes }

  /// The hash of the shortest form: equal for all names that could mean one service.
  static func lastHash(of name: String) -> UInt32 {
    NameHash.of((forms(of: name).last ?? name).utf8Span.span, .service)
  }

  /// Whether two written names could mean one service: one ends in the other.
  static func matches(_ name: String, _ other: String) -> Bool {
    name == other || forms(of: other).contains(name) || forms(of: name).contains(other)
  }
}
