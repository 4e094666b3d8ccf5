// The rules of target and route records, whether or not anybody routes. They concern the pattern, the actions, and the
// types that C has values for.
extension Attributes {
  /// Checks the routing attributes of a record of a kind and a name.
  func checkRouting(of kind: RecordKind, named name: String) throws(Refusal) {
    switch kind {
    case .target: try checkActions()
    case .route:
      _ = try PatternParts(name)
      if abi == "c-route" { try Self.check(result: result, of: name) }
    default: break
    }
  }

  private func checkActions() throws(Refusal) {
    var names: Set<String> = []
    for text in actions {
      let action = try ActionDeclaration(reading: text)
      try Refusal.check(
        names.insert(action.name).inserted, .badAction,
        "declares the action \(action.name) twice; keep one")
      try Refusal.check(
        !action.exposure.isRemote || !isNativeName(action.name), .badAction,
        "\(action): names that begin with native are never remote; rename it or remove the mark")
      guard abi == "c-target" else { continue }
      for parameter in action.parameters { try Self.check(parameter, of: action) }
      try Self.check(result: action.result, of: "\(action)")
    }
  }

  private static func check(
    _ parameter: ActionDeclaration.Parameter, of action: ActionDeclaration
  ) throws(Refusal) {
    guard let type = CType(rawValue: parameter.type) else {
      throw Refusal(
        .unknownType, "\(action): a parameter in C is a \(CType.list), not a \(parameter.type)")
    }
    guard let text = parameter.unquotedDefault, !type.holds(text) else { return }
    throw Refusal(.badAction, "\(action): the default of \(parameter.name) is no \(parameter.type)")
  }

  private static func check(result: String, of what: String) throws(Refusal) {
    try Refusal.check(
      result.isEmpty || CType(rawValue: result) != nil, .unknownType,
      "\(what): a result in C is a \(CType.list), not a \(result)")
  }
}

/// Returns whether calls from outside never reach an action of this name. Such names begin with `native`, in any case
/// and however often they are percent-encoded.
///
/// - Parameter name: The name of an action.
/// - Returns: Whether it is never remote.
package func isNativeName(_ name: String) -> Bool {
  var name = name
  for _ in 0..<8 {
    if name.lowercased().hasPrefix("native") { return true }
    let decoded = try? percentDecoded(Array(name.utf8)[...], "the name")
    guard let decoded, decoded != name else { return false }
    name = decoded
  }
  // An honest caller does not encode a name that often.
  return true
}
