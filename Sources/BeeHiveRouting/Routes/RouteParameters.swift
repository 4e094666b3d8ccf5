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
      if let swiftType = type.swiftType { return Parameter(key, as: swiftType) }
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
    var parameters = call.given(values) { name in
      takesAny || keys.contains { $0.declaration.name == name }
    }
    // What the URL alone gives is of the types that it was matched by.
    if !url.items.isEmpty || !call.arguments.isEmpty || !call.withheld.isEmpty {
      try path.convert(&parameters, of: pattern.text)
    }
    try keys.convert(&parameters, of: pattern.text)
    return parameters
  }
}
