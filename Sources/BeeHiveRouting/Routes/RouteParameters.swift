/// The parameters that a route's pattern declares, with the types as they are when it is registered: whether a call fits is known
/// before its handler gets it.
///
/// A class, so that a route is copied at no cost of it.
final class RouteParameters: Sendable {
  /// A parameter of the path or of the query, its type, which is nil for text, since a handler may make anything of
  /// that, and the value of a missing one.
  private typealias Declared = (
    key: PatternKey, type: SegmentTypes.SegmentType?, missing: Arguments.Argument?
  )

  let pattern: RoutePattern
  private let path: [Declared]
  private let keys: [Declared]

  /// Throws where the pattern names a type that is not defined, or has a default that is not of its type.
  ///
  /// Calls converters of the host's, so no lock may be held.
  init(of pattern: RoutePattern, _ types: SegmentTypes) throws(RoutingError) {
    func declared(_ key: PatternKey) throws(RoutingError) -> Declared {
      let type = try types.type(named: key.type, in: pattern.text)
      guard let text = key.default else { return (key, type, nil) }
      guard let type else { return (key, nil, .texts([text])) }
      guard let value = type.convert(text) else {
        throw RoutingError(
          .badPattern,
          "the pattern \(pattern) cannot be used: the default of \(key.name) is no \(key.type)")
      }
      return (key, type, .value(value))
    }
    self.pattern = pattern
    // An array of what is left is made of whatever there is.
    path = try pattern.parts.pathKeys.filter { !pattern.isRest($0.name) }.map(declared)
    keys = try pattern.keys.map(declared)
  }

  /// Makes a value of a parameter's type of what is given, or the default of nothing.
  private func check(
    _ declared: Declared, in parameters: inout Arguments
  ) throws(RoutingError) {
    let (key, type, missing) = declared
    guard let given = parameters.values[key.name] else {
      parameters.values[key.name] = missing
      return try RoutingError.check(
        missing != nil || key.isOptional, .missingParameter,
        "the parameter \(key.name) of \(pattern), a \(key.type), is missing; give it",
        key: key.name)
    }
    guard let type else { return }
    do throws(RoutingError) {
      // With a default, the handler need not ask for an optional.
      let value = try type.value(
        of: given, key.name, key.type, isOptional: key.isOptional && missing == nil)
      parameters.values[key.name] = value.map { .value($0) }
    } catch {
      throw RoutingError(error.code, "\(pattern): \(error.message)", key: key.name)
    }
  }

  /// The arguments of the handler: the query below the path below what the caller gives beside the URL. Throws where
  /// that is not what the pattern declares.
  func collect(
    of call: Call, at url: URLText, path values: PathValues
  ) throws(RoutingError) -> Arguments {
    // A call from outside gives no key that the author did not declare.
    let takesAny = call.origin == .local || pattern.allowsOtherKeys
    var parameters = call.given(values) { name in
      takesAny || keys.contains { $0.key.name == name }
    }
    // What the URL alone gives is of the types that it was matched by.
    if !url.items.isEmpty || !call.arguments.isEmpty || !call.withheld.isEmpty {
      for declared in path { try check(declared, in: &parameters) }
    }
    for declared in keys { try check(declared, in: &parameters) }
    return parameters
  }
}
