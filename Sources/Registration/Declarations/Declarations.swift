/// The lifetime of an instance of a service.
///
///     try hive.register((any Greeter).self, scope: .singleton) { _ in English() }
///     let first: any Greeter = try hive.service()
///     let second: any Greeter = try hive.service()  // the same instance
public enum Scope: String, Codable, Hashable, Sendable, CaseIterable {
  /// A new instance for each request.
  case transient
  /// One instance, made at the first request, until the service is removed or the Hive stops.
  case singleton
  /// One instance as long as somebody else holds it; the implementation is a class. In C each lookup counts
  /// as one who holds it, until `destroy`.
  case weak
  /// One instance for each `ServiceScope` that asks.
  case scoped
}

/// Which modules start first.
public enum ModuleLevel: String, Hashable, Sendable, CaseIterable {
  /// Before the normal ones.
  case basic
  /// After the basic ones.
  case normal
}

/// Whom a route, an action or a handler answers, and what its own calls may reach.
public enum Exposure: String, Hashable, Sendable, Codable, CustomStringConvertible {
  /// Calls of this process alone.
  case local
  /// Calls from outside too. What it opens for one of these is opened from outside as well.
  case remote
  /// Calls from outside too; what it opens is opened as code of this process opens it.
  ///
  /// For what checks by itself what is asked of it: a URL that it opens must not come from the caller.
  case elevated

  /// By the value of the attribute `remote`.
  static let byAttribute: [String: Exposure] = [
    "false": .local, "true": .remote, "elevated": .elevated,
  ]

  /// Whether calls from outside are answered.
  package var isRemote: Bool { self != .local }

  /// `remote`
  public var description: String { rawValue }

  /// The prefix of a declaration: the word and a blank; nothing for what is local.
  package var mark: String { self == .local ? "" : "\(rawValue) " }
}

/// How much of a URL the pattern of a route has to cover.
public enum RouteExtent: String, Hashable, Sendable, CaseIterable {
  /// All of the path.
  case exact
  /// The path up to where the pattern ends; anything may follow.
  case prefix
}

/// The types of parameters and results that C has values of, as a declaration names them.
package enum CType: String, CaseIterable {
  case string = "String"
  case int = "Int"
  case double = "Double"
  case bool = "Bool"

  /// `String, Int, Double or Bool`
  static let list = "String, Int, Double or Bool"

  /// Whether a text of a declaration, without quotes, is a value of the type.
  func holds(_ text: String) -> Bool { BuiltInType(named: rawValue)?.holds(text) ?? true }
}

/// A type that every pattern and every declaration in C may name: the one judge of the texts that are of it.
///
/// A default in a record is held to it when the record is read, a URL when it is matched.
package enum BuiltInType: String, CaseIterable, Sendable {
  case uuid, int, double, bool

  /// Finds a type by the name that a pattern or a declaration has for it; nil where it is none of these.
  ///
  /// - Parameter name: The name, in either case; a `Float` is a `Double`.
  package init?(named name: String) { self.init(rawValue: PatternSegment.typeKey(name)) }

  /// Returns whether a text is of the type.
  ///
  /// - Parameter text: The text, decoded.
  /// - Returns: Whether a value of the type can be made of it.
  package func holds(_ text: String) -> Bool {
    switch self {
    case .uuid:
      text.utf8.count == 36
        && text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
          .map({ $0.count { $0.hexadecimal != nil } }) == [8, 4, 4, 4, 12]
    case .int: Int(text) != nil
    case .double: Double(decimal: text) != nil
    case .bool: Bool(truth: text) != nil
    }
  }
}

extension Double {
  /// Reads a finite decimal number; nil where it is none.
  ///
  /// - Parameter text: Decimal digits: no `nan`, no `inf`, nothing hexadecimal.
  package init?(decimal text: String) {
    let isDecimal = text.utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
    guard isDecimal, let value = Double(text), value.isFinite else { return nil }
    self = value
  }
}

extension Bool {
  /// Reads a truth value; nil where it is none.
  ///
  /// - Parameter text: `true`, `1`, or nothing as in `?debug`; `false` or `0`.
  package init?(truth text: String) {
    switch text {
    case "true", "1", "": self = true
    case "false", "0": self = false
    default: return nil
    }
  }
}
