/// What a route's pattern declares, with the types as they are when it is registered: whether a call fits is known
/// before its handler is asked.
///
/// A class, so that a route is copied at no cost of it.
final class RouteParameters: Sendable {
  /// A parameter of the path or of the query.
  private struct Declared {
    let name: String
    /// The name of its type, as it was written.
    var written = "String"
    /// Nil for text, of which a handler may make anything.
    let type: SegmentTypes.SegmentType?
    var isOptional: Bool
    /// The value of a missing one.
    var missing: Arguments.Argument?
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
    self.pattern = pattern
    path = try (pattern.variants.first ?? []).map { segment throws(RoutingError) in
      try Self.declared(segment, of: pattern, types)
    }.compactMap { $0 }
    keys = try pattern.keys.map { key throws(RoutingError) in
      try Self.declared(key, of: pattern, types)
    }
    names = Set(keys.map(\.name))
  }

  /// Nil for what takes no value, and for an array of what is left, which is made of whatever there is.
  private static func declared(
    _ segment: PatternSegment, of pattern: RoutePattern, _ types: SegmentTypes
  ) throws(RoutingError) -> Declared? {
    guard let name = segment.name, !segment.isRest else { return nil }
    let isOptional = !pattern.variants.allSatisfy { $0.contains(segment) }
    guard let written = pattern.type(of: name) else {
      let isPath = if case .rest = segment { true } else { false }
      return Declared(name: name, type: isPath ? .path : nil, isOptional: isOptional)
    }
    return Declared(
      name: name, written: written, type: try types.type(named: written, in: pattern.text),
      isOptional: isOptional)
  }

  private static func declared(
    _ key: PatternKey, of pattern: RoutePattern, _ types: SegmentTypes
  ) throws(RoutingError) -> Declared {
    guard key.type.lowercased() != "string" else {
      let missing = key.defaultText.map { Arguments.Argument.texts([$0]) }
      return Declared(name: key.name, type: nil, isOptional: key.isOptional, missing: missing)
    }
    let type = try types.type(named: key.type, in: pattern.text)
    var declared = Declared(
      name: key.name, written: key.type, type: type, isOptional: key.isOptional)
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

  /// What the handler is given: the query below the path below what the caller gives beside the URL. Throws where
  /// that is not what the pattern declares.
  func collect(
    of call: Call, at url: URLText, path values: [(name: String, value: any URLConvertible)]
  ) throws(RoutingError) -> Arguments {
    var parameters = Arguments()
    let takesAny = call.origin == .local || pattern.allowsOtherKeys
    for item in url.items where !call.withheld.contains(item.name) {
      // A call from outside gives no key that the author did not declare.
      guard takesAny || names.contains(item.name) else { continue }
      parameters.append(item.value ?? "", for: item.name)
    }
    for (name, value) in values where !call.withheld.contains(name) {
      // Text stays text: the handler may ask for it as a number.
      parameters.values[name] = (value as? String).map { .texts([$0]) } ?? .value(value)
    }
    parameters = parameters.merging(call.arguments)
    // What the URL alone gives is of the types that it was matched by.
    if !url.items.isEmpty || !call.arguments.isEmpty || !call.withheld.isEmpty {
      for declared in path { try check(declared, in: &parameters) }
    }
    for declared in keys { try check(declared, in: &parameters) }
    return parameters
  }

  /// Makes a value of its type of what is given for a parameter, or the default of nothing.
  private func check(
    _ declared: Declared, in parameters: inout Arguments
  ) throws(RoutingError) {
    let name = declared.name
    guard let given = parameters.values[name] else {
      parameters.values[name] = declared.missing
      guard declared.missing == nil, !declared.isOptional else { return }
      throw RoutingError(
        .missingParameter,
        "the parameter \(name) of \(pattern), a \(declared.written), is missing; give it",
        key: name)
    }
    guard let type = declared.type else { return }
    do throws(RoutingError) {
      parameters.values[name] = try type.value(given, name, declared.isOptional).map { .value($0) }
    } catch {
      throw RoutingError(error.code, "\(pattern): \(error.message)", key: name)
    }
  }
}
