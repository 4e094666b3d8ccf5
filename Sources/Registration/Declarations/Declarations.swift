/// How long an instance of a service lives.
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
  static var list: String {
    let names = allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }

  /// Whether a text of a declaration, without quotes, is a value of the type.
  func holds(_ text: String) -> Bool { BuiltInType(named: rawValue)?.holds(text) ?? true }
}
