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
