/// The parameters that a route's pattern declares, with the types as they are when it is registered: whether a call fits is known
/// before its handler gets it.
///
/// A class, so that a route is copied at no cost of it.
final class RouteParameters: Sendable {
  /// A parameter of the path or of the query.
  private struct Declared {
    let name: String
    var isOptional: Bool
    /// The name of its type, as it was written.
    var written = "String"
    /// Nil for text: a handler may make anything of it.
    var type: SegmentTypes.SegmentType?
    /// The value of a missing one.
    var missing: Arguments.Argument?

    /// Makes a value of the type of what is given, or the default of nothing.
    func check(
      _ parameters: inout Arguments, of pattern: RoutePattern
    ) throws(RoutingError) {
      guard let given = parameters.values[name] else {
        parameters.values[name] = missing
        return try RoutingError.check(
          missing != nil || isOptional, .missingParameter,
          "the parameter \(name) of \(pattern), a \(written), is missing; give it", key: name)
      }
      guard let type else { return }
      do throws(RoutingError) {
        let value = try type.value(of: given, name, written, isOptional: isOptional)
        parameters.values[name] = value.map { .value($0) }
      } catch {
        throw RoutingError(error.code, "\(pattern): \(error.message)", key: name)
      }
    }
  }

  let pattern: RoutePattern
  private let path: [Declared]
  private let keys: [Declared]
  /// The names of the keys.
  private let names: Set<String>

  /// Throws where the pattern names a type that is not defined, or has a default that is not of its type.
  ///
  /// Calls converters of the host's, so no lock may be held.
  init(of pattern: RoutePattern, _ types: SegmentTypes) throws(RoutingError) {
    var path: [Declared] = []
    // An array of what is left is made of whatever there is.
    for segment in pattern.variants.first ?? [] where !segment.isRest {
      guard let name = segment.name else { continue }
      let isOptional = !pattern.variants.allSatisfy { $0.contains(segment) }
      var declared = Declared(name: name, isOptional: isOptional)
      if let written = pattern.type(of: name) {
        declared.written = written
        declared.type = try types.type(named: written, in: pattern.text)
      } else if case .rest = segment {
        declared.type = .path
      }
      path.append(declared)
    }
    self.pattern = pattern
    self.path = path
    keys = try pattern.keys.map { key throws(RoutingError) in
      try Self.declared(key, of: pattern, types)
    }
    names = Set(keys.map(\.name))
  }

  private static func declared(
    _ key: PatternKey, of pattern: RoutePattern, _ types: SegmentTypes
  ) throws(RoutingError) -> Declared {
    var declared = Declared(name: key.name, isOptional: key.isOptional)
    guard key.type.lowercased() != "string" else {
      declared.missing = key.defaultText.map { .texts([$0]) }
      return declared
    }
    let type = try types.type(named: key.type, in: pattern.text)
    (declared.written, declared.type) = (key.type, type)
    guard let text = key.defaultText else { return declared }
    guard let value = type.convert(text) else {
      throw RoutingError(
        .badPattern,
        "the pattern \(pattern) cannot be used: the default of \(key.name) is no \(key.type)")
    }
    // With a default, the handler need not ask for an optional.
    (declared.isOptional, declared.missing) = (false, .value(value))
    return declared
  }

  /// The arguments of the handler: the query below the path below what the caller gives beside the URL. Throws where
  /// that is not what the pattern declares.
  func collect(
    of call: Call, at url: URLText, path values: PathValues
  ) throws(RoutingError) -> Arguments {
    // A call from outside gives no key that the author did not declare.
    let takesAny = call.origin == .local || pattern.allowsOtherKeys
    var parameters = call.given(values) { takesAny || names.contains($0) }
    // What the URL alone gives is of the types that it was matched by.
    if !url.items.isEmpty || !call.arguments.isEmpty || !call.withheld.isEmpty {
      for declared in path { try declared.check(&parameters, of: pattern) }
    }
    for declared in keys { try declared.check(&parameters, of: pattern) }
    return parameters
  }
}
