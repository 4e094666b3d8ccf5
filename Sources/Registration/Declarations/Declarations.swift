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
  /// One instance as long as somebody else holds it; the implementation is a class. In C each lookup holds
  /// it until `destroy`.
  case weak
  /// One instance for each `ServiceScope` that asks.
  case scoped
}

/// The order of modules: the basic ones start first.
public enum ModuleLevel: String, Hashable, Sendable, CaseIterable {
  /// Before the normal ones.
  case basic
  /// After the basic ones.
  case normal
}

/// The callers that a route, an action or a handler answers, and the reach of its own calls.
public enum Exposure: String, Hashable, Sendable, Codable, CustomStringConvertible {
  /// Only calls of this process.
  case local
  /// Calls from outside too. While it answers one of these, its own calls come from outside as well.
  case remote
  /// Calls from outside too. Its own calls reach as much as other code of this process.
  ///
  /// For code that checks its callers' requests itself: a URL that it opens must not come from the caller.
  case elevated

  /// The exposures by the value of the attribute `remote`.
  static let byAttribute: [String: Exposure] = [
    "false": .local, "true": .remote, "elevated": .elevated,
  ]

  /// Whether it answers calls from outside.
  package var isRemote: Bool { self != .local }

  /// `remote`
  public var description: String { rawValue }

  /// The prefix of a declaration: the word and a blank; nothing for `local`.
  package var mark: String { self == .local ? "" : "\(rawValue) " }
}

/// The part of a URL that the pattern of a route has to cover.
public enum RouteExtent: String, Hashable, Sendable, CaseIterable {
  /// All of the path.
  case exact
  /// The path up to where the pattern ends; anything may follow.
  case prefix
}

/// The types of parameters and results that C has values for, as a declaration names them.
package enum CType: String, CaseIterable {
  case string = "String"
  case int = "Int"
  case double = "Double"
  case bool = "Bool"

  /// `String, Int, Double or Bool`
  static let list = "String, Int, Double or Bool"

  /// Returns whether a text of a declaration, without quotes, is a value of the type.
  func holds(_ text: String) -> Bool { BuiltInType(named: rawValue)?.holds(text) ?? true }
}

/// A type that every pattern and every declaration in C may name. It alone decides which texts are of it.
///
/// Defaults in a record are checked when the record is read, URLs when they are matched.
package enum BuiltInType: String, CaseIterable, Sendable {
  case uuid, int, double, bool

  /// Finds a type by its name in a pattern or a declaration; nil for any other name.
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
  /// Reads a finite decimal number; nil if the text is not one.
  ///
  /// - Parameter text: Decimal digits: no `nan`, no `inf`, nothing hexadecimal.
  package init?(decimal text: String) {
    let isDecimal = text.utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
    guard isDecimal, let value = Double(text), value.isFinite else { return nil }
    self = value
  }
}

extension Bool {
  /// Reads a truth value; nil if the text is not one.
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
