// Targets and routes that a C author wrote, described by the text of their records. Each function is checked when
// its record arrives. The image is kept mapped from the first call on.

extension TargetDefinition {
  /// Describes a target that a record declares.
  init(c entry: RegisteredEntry, in hive: Hive) throws(RoutingError) {
    var actions: [Action<any Sendable>] = []
    for text in entry.attributes.actions {
      let declaration = try ActionDeclaration(parsing: text)
      let parameters = try declaration.parameters.map { parameter throws(RoutingError) in
        try Parameter(c: parameter, of: declaration)
      }
      let call = CCall(
        entry: entry, hive: hive, action: declaration.name, result: declaration.result)
      _ = unsafe try call.function()
      actions.append(
        Action(declaration: declaration, parameters: parameters) { _, arguments in
          try call.perform(
            arguments, parameters.map(\.declaration.name), url: Call.current?.originalURL?.text)
        })
    }
    self.init(entry.name, actions) { () }
  }
}

extension RouteDefinition {
  /// Describes a route that a record declares.
  init(c entry: RegisteredEntry, in hive: Hive) throws(RoutingError) {
    let attributes = entry.attributes
    let pattern = try RoutePattern(of: entry)
    let call = CCall(entry: entry, hive: hive, action: nil, result: attributes.result)
    _ = unsafe try call.function()
    self.init(
      pattern: entry.name, priority: attributes.priority, extent: attributes.extent,
      exposure: attributes.exposure, result: attributes.result
    ) { routeCall in
      let declared = pattern.names + pattern.keys.map(\.name)
      let others = pattern.allowsOtherKeys ? routeCall.parameters.keys.subtracting(declared) : []
      let names = declared + others.sorted()
      do throws(RoutingError) {
        return try call.perform(routeCall.parameters, names, url: routeCall.url.text)
      } catch {
        // If a route in C does not answer, the next route that the URL meets may.
        throw error.asRefusal()
      }
    }
  }
}

extension Parameter {
  /// A parameter of one of the types that C has a value for.
  init(c declared: ActionDeclaration.Parameter, of action: ActionDeclaration) throws(RoutingError) {
    guard let type = CType(rawValue: declared.type)?.swiftType else {
      throw RoutingError(.unknownType, "\(action)", key: declared.name)
    }
    var unquoted = declared
    // A record with a default of another type is refused when it is read.
    unquoted.default = declared.unquotedDefault
    self.init(unquoted, as: type)
  }
}

extension CType {
  /// The type in Swift.
  var swiftType: any URLConvertible.Type {
    switch self {
    case .string: String.self
    case .int: Int.self
    case .double: Double.self
    case .bool: Bool.self
    }
  }
}
