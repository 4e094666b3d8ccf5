/// How long an instance of an annotated service lives: the words of `Scope` in `BeeHive`.
///
/// The macros read the word from the source; nothing of this exists at run time.
public enum AnnotatedScope: Sendable {
  /// A new instance for each request.
  case transient
  /// One instance, made at the first request.
  case singleton
  /// One instance as long as somebody else holds it; the implementation is a class.
  case weak
  /// One instance for each scope that asks.
  case scoped
}

/// Which annotated modules start first.
public enum AnnotatedLevel: Sendable {
  /// Before the normal ones.
  case basic
  /// After the basic ones.
  case normal
}

/// Names of modules: one string literal, or an array of them.
public struct AnnotatedNames: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, Sendable {
  /// Takes one name.
  ///
  /// - Parameter name: The module's name.
  public init(stringLiteral name: String) {}
  /// Takes several names.
  ///
  /// - Parameter names: The modules' names, each a literal.
  public init(arrayLiteral names: String...) {}
}
