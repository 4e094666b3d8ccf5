/// A registered route.
public struct Route: Sendable, CustomStringConvertible {
  /// The part of a URL that the pattern has to cover.
  public typealias Extent = RouteExtent

  /// A number that no other route of its router has.
  let id = nextNumber()
  /// The pattern of the URLs that it answers.
  public var pattern: RoutePattern { parameters.pattern }
  /// The priority. Larger ones come first among the routes that a URL meets.
  package var priority: Int { definition.priority }
  /// The part of a URL that the pattern covers.
  package var extent: Extent { definition.extent }
  /// The callers that it answers.
  public var exposure: Exposure { definition.exposure }
  /// The name of the type that the handler returns.
  public var result: String { definition.result }
  /// The location of its registration.
  public let source: Source
  /// The definition that its author wrote, with the handler.
  let definition: RouteDefinition
  /// The parameters that its pattern declares.
  let parameters: RouteParameters
  /// Its forms in the tree, once it is there.
  var forms: [RouteTree.Form] = []

  /// Returns whether it has a pattern's shape, as a duplicate has. Names of parameters and the query do not
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

/// A call, as the handler that answers it sees it.
public struct RouteCall: Sendable {
  /// The URL that the route matched.
  public let url: URLText
  /// The pattern that matched.
  public let pattern: RoutePattern
  /// The values of the query, the path and the caller. If several of them give a name, the later one counts.
  public let parameters: Arguments
  let call: Call

  /// The URL that the call began with, before any redirection; nil if it began with an action's names.
  public var originalURL: URLText? { call.originalURL }
  /// The origin of the call.
  public var origin: CallOrigin { call.origin }
  /// The values that the caller gives with the URL.
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

  /// Returns an error for the handler to throw, so that the next matching route answers.
  ///
  /// - Parameter reason: The reason. The caller reads it if no other route answers.
  /// - Returns: The error: `throw call.refusal("sold out")`.
  public func refusal(_ reason: String) -> any Error {
    RoutingError(.refused, reason).asRefusal()
  }
}

/// A route as a record hands it over. `@Route` writes it.
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
  ///   - priority: Of the routes that match, the one with the largest priority comes first.
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

/// The parameters that a route's pattern declares, with the types that were defined at its registration. They tell
/// whether a call fits before its handler gets it.
///
/// A class, so that copying a route does not copy them.
final class RouteParameters: Sendable {
  let pattern: RoutePattern
  private let path: [Parameter]
  private let keys: [Parameter]

  /// Throws if the pattern names a type that is not defined, or has a default of another type.
  ///
  /// Calls the host's converters, so no lock may be held.
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
    // Any segments make the array of a rest.
    path = try pattern.parts.pathKeys.filter { !pattern.isRest($0.name) }.map(declared)
    keys = try pattern.keys.map(declared)
  }

  /// Returns the arguments of the handler: the path overrides the query, the caller's values override both. Throws if
  /// they are not what the pattern declares.
  func collect(
    of call: Call, at url: URLText, path values: PathValues
  ) throws(RoutingError) -> Arguments {
    // A call from outside gives no key that the author did not declare.
    let takesAny = call.origin == .local || pattern.allowsOtherKeys
    // Nor does the query give a part of the path, because rules would not judge the call by it.
    var parameters = call.given(values) { name in
      !path.contains { $0.declaration.name == name }
        && (takesAny || keys.contains { $0.declaration.name == name })
    }
    // If only the path gives values, they have the types of the match already.
    if !url.items.isEmpty || !call.arguments.isEmpty || !call.withheld.isEmpty {
      try path.convert(&parameters, of: pattern.text)
    }
    try keys.convert(&parameters, of: pattern.text)
    return parameters
  }
}
