/// A registered route.
public struct Route: Sendable, CustomStringConvertible {
  /// How much of a URL the pattern has to cover.
  public typealias Extent = RouteExtent

  /// Tells it apart from the others of its router.
  let id = nextNumber()
  /// Which URLs it answers to.
  public var pattern: RoutePattern { parameters.pattern }
  /// Larger first among the routes that a URL meets.
  package var priority: Int { definition.priority }
  /// How much of a URL the pattern covers.
  package var extent: Extent { definition.extent }
  /// Whom it answers.
  public var exposure: Exposure { definition.exposure }
  /// The name of the type that the handler returns.
  public var result: String { definition.result }
  /// Where it was registered.
  public let source: Source
  /// What its author wrote, and what answers a call.
  let definition: RouteDefinition
  /// What its pattern declares.
  let parameters: RouteParameters
  /// Where it is in the tree, once it is there.
  var forms: [RouteTree.Form] = []

  /// Returns whether it has a pattern's shape, as a duplicate has: names of parameters and the query do not
  /// count.
  func hasShape(of other: RoutePattern) -> Bool {
    let shapes = Set(other.parts.shapes())
    return Set(pattern.parts.shapes()) == shapes
      || Set(pattern.parts.shapes(isPrefix: extent == .prefix)) == shapes
  }

  /// Whether code registered it, rather than an image.
  var isOfCode: Bool { if case .code = source { true } else { false } }

  /// `app://shop/:id<Int>  remote  Shop.swift:12`
  public var description: String {
    "\(pattern)\(exposure == .local ? "" : "  \(exposure)")\(priority == 0 ? "" : "  priority=\(priority)")  \(source)"
  }
}

/// What a handler is told of the call that it answers.
public struct RouteCall: Sendable {
  /// The URL that the route matched.
  public let url: URLText
  /// The pattern that matched.
  public let pattern: RoutePattern
  /// What the query, the path and the caller give; for a name that several give, the later of these counts.
  public let parameters: Arguments
  let call: Call

  /// The URL that the call began with, before any redirection; nil where it began with names.
  public var originalURL: URLText? { call.originalURL }
  /// Who calls.
  public var origin: CallOrigin { call.origin }
  /// What the caller gives beside the URL.
  public var userInfo: Arguments { call.arguments }

  /// Returns a parameter as a `Value`: `let id: Int = try call["id"]`.
  ///
  /// - Parameter key: The parameter's name.
  /// - Returns: The value, converted if need be; nil for a missing one if the type is optional.
  /// - Throws: ``RoutingError`` with `missingParameter`, or with `wrongParameter` if it cannot be converted.
  public subscript<Value: Sendable>(key: String) -> Value {
    get throws(RoutingError) { try parameters.value(key) }
  }

  /// Returns a parameter as a `Value` that a URL can give.
  ///
  /// `@Route` writes this for routes that answer calls from outside, so that another type does not compile.
  ///
  /// - Parameter key: The parameter's name.
  /// - Returns: The value, converted if need be; nil for a missing one if the type is optional.
  /// - Throws: ``RoutingError`` with `missingParameter`, or with `wrongParameter` if it cannot be converted.
  public subscript<Value: URLConvertible>(url key: String) -> Value {
    get throws(RoutingError) { try parameters.value(key) }
  }

  /// Returns what to throw so that the next matching route is asked.
  ///
  /// - Parameter reason: Why; the caller reads it where no other route answers.
  /// - Returns: The error: `throw call.refusal("sold out")`.
  public func refusal(_ reason: String) -> any Error {
    RoutingError(.refused, reason).asRefusal()
  }
}

/// A route as a record hands it over: what `@Route` writes.
public struct RouteDefinition: Sendable {
  /// The pattern as it was written.
  package let pattern: String
  let priority: Int
  let extent: Route.Extent
  let exposure: Exposure
  let result: String
  let handler: @Sendable (RouteCall) async throws -> any Sendable
}

extension RouteDefinition {
  /// Describes a route; its pattern is read when it is registered.
  ///
  /// - Parameters:
  ///   - pattern: As ``RoutePattern`` reads it.
  ///   - exposure: Whether calls from outside reach it.
  ///   - priority: The largest is asked first among routes that match.
  ///   - extent: Whether the pattern covers all of a URL's path or its beginning.
  ///   - handler: Answers a call, with no lock held.
  public init<Value: Sendable>(
    _ pattern: String, exposure: Exposure = .local, priority: Int = 0,
    matching extent: Route.Extent = .exact,
    _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) {
    self.init(
      pattern: pattern, priority: priority, extent: extent, exposure: exposure,
      result: Value.self == Void.self ? "" : "\(Value.self)", handler: handler)
  }
}

/// The parameters that a route's pattern declares, with the types as they are when it is registered: whether a call fits is known
/// before its handler gets it.
///
/// A class, so that a route is copied at no cost of it.
final class RouteParameters: Sendable {
  let pattern: RoutePattern
  private let path: [Parameter]
  private let keys: [Parameter]

  /// Throws where the pattern names a type that is not defined, or has a default that is not of its type.
  ///
  /// Calls converters of the host's, so no lock may be held.
  init(of pattern: RoutePattern, _ types: SegmentTypes) throws(RoutingError) {
    func declared(_ key: PatternKey) throws(RoutingError) -> Parameter {
      guard let type = try types.type(named: key.type, in: pattern.text) else {
        // A handler may make anything of a text.
        return Parameter(declaration: key, missing: key.default.map { .texts([$0]) }) { $0 }
      }
      let missing = key.default.flatMap(type.convert)
      try RoutingError.check(
        missing != nil || key.default == nil, .badPattern,
        "the pattern \(pattern) cannot be used: the default of \(key.name) is no \(key.type)")
      if let swiftType = type.swiftType {
        let parameter = Parameter(key, as: swiftType)
        guard type.name == "path" else { return parameter }
        return Parameter(declaration: parameter.declaration, missing: parameter.missing) {
          given throws(RoutingError) in
          let converted = try parameter.convert(given)
          if given.texts?.contains(where: \.climbs) != true { return converted }
          throw Arguments.wrong(key.name, key.type, given.said)
        }
      }
      return Parameter(declaration: key, missing: missing.map { .value($0) }) {
        given throws(RoutingError) in try type.value(of: given, for: key)
      }
    }
    self.pattern = pattern
    // An array of what is left is made of whatever there is.
    path = try pattern.parts.pathKeys.filter { !pattern.isRest($0.name) }.map(declared)
    keys = try pattern.keys.map(declared)
  }

  /// The arguments of the handler: the query below the path below what the caller gives beside the URL. Throws where
  /// that is not what the pattern declares.
  func collect(
    of call: Call, at url: URLText, path values: PathValues
  ) throws(RoutingError) -> Arguments {
    // A call from outside gives no key that the author did not declare.
    let takesAny = call.origin == .local || pattern.allowsOtherKeys
    // Nor does the query give a part of the path, which rules would not judge it by.
    var parameters = call.given(values) { name in
      !path.contains { $0.declaration.name == name }
        && (takesAny || keys.contains { $0.declaration.name == name })
    }
    // What the URL alone gives is of the types that it was matched by.
    if !url.items.isEmpty || !call.arguments.isEmpty || !call.withheld.isEmpty {
      try path.convert(&parameters, of: pattern.text)
    }
    try keys.convert(&parameters, of: pattern.text)
    return parameters
  }
}
