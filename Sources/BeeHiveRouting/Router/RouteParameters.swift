/// What a matched route is given: the query below the path below what the caller gives beside the URL.
enum RouteParameters {
  static func collect(
    of call: Call, at url: URLText, for route: Route, types: SegmentTypes,
    path values: [(name: String, value: any URLConvertible)]
  ) throws(RoutingError) -> Arguments {
    let pattern = route.pattern
    var parameters = Arguments()
    if !url.items.isEmpty || !pattern.keys.isEmpty {
      let declared = Set(pattern.keys.map(\.name))
      let takesAny = call.origin == .local || pattern.allowsOtherKeys
      for item in url.items where !call.withheld.contains(item.name) {
        // A call from outside gives no key that the author did not declare.
        guard takesAny || declared.contains(item.name) else { continue }
        parameters.append(item.value ?? "", for: item.name)
      }
    }
    for (name, value) in values where !call.withheld.contains(name) {
      // Text stays text: the handler may ask for it as a number.
      parameters.values[name] = (value as? String).map { .texts([$0]) } ?? .value(value)
    }
    parameters = parameters.merging(call.arguments)
    for name in pattern.names {
      if let type = pattern.type(of: name) { try check(parameters, name, type, of: pattern, types) }
    }
    for key in pattern.keys {
      if parameters.values[key.name] != nil {
        try check(parameters, key.name, key.type, of: pattern, types)
      } else if let text = key.defaultText {
        parameters.append(text, for: key.name)
      } else if !key.isOptional {
        throw RoutingError(
          .missingParameter,
          "the parameter \(key.name) of \(pattern), a \(key.type), is missing; give it",
          key: key.name)
      }
    }
    return parameters
  }

  /// Refuses a text that is not of the type that the pattern names; a rule may have put it there.
  private static func check(
    _ parameters: Arguments, _ name: String, _ type: String, of pattern: RoutePattern,
    _ types: SegmentTypes
  ) throws(RoutingError) {
    guard case .texts(let texts) = parameters.values[name] else { return }
    for text in texts where types.value(of: text, as: type) == nil {
      throw RoutingError(
        .wrongParameter,
        "the parameter \(name) of \(pattern) is to be of type \(type), and is given the text \"\(text)\"",
        key: name)
    }
  }
}
