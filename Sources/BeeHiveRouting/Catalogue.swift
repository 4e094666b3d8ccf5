internal import Threads

/// Every interface that can be called by name or by URL. People print its `description`; programs use any
/// encoder: `JSONEncoder().encode(hive.catalogue())`.
///
/// `section-dump` shows the same of a file that is not loaded, because records have it in their attributes.
public struct Catalogue: Encodable, Hashable, Sendable, CustomStringConvertible {
  /// One action or route.
  package struct Interface: Encodable, Hashable, Sendable {
    /// `action` or `route`.
    package var kind: String
    /// `shop.price`, or the pattern.
    package var name: String
    /// The whole declaration as it was written.
    package var declaration: String
    /// The parameters, in order.
    package var parameters: [PatternKey]
    /// The name of the type that it returns; nil for none.
    package var result: String?
    /// The callers that it answers.
    package var exposure: Exposure
    /// The image and the slot in it, or the file and line.
    package var origin: String
  }

  /// The actions by target and name, then the routes in order of registration.
  package var interfaces: [Interface]

  /// A line for each interface: its kind, its exposure, its declaration, and its origin.
  public var description: String {
    let rows = interfaces.map { interface in
      let target = interface.kind == "action" ? interface.name.prefix { $0 != "." } + "." : ""
      return [
        interface.kind, interface.exposure.rawValue, target + interface.declaration,
        interface.origin,
      ]
    }
    let widths = [6] + [1, 2].map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let padded = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return "\(padded.joined(separator: " "))  \(row[3])"
    }.joined(separator: "\n")
  }
}

extension Catalogue.Interface {
  init(_ declaration: ActionDeclaration, of target: RegisteredTarget) {
    var text = declaration
    text.exposure = .local
    self.init(
      kind: "action", name: "\(target.definition.name).\(declaration.name)",
      declaration: text.description,
      parameters: declaration.parameters.map {
        PatternKey(
          name: $0.name, type: $0.type, isOptional: $0.isOptional || $0.default != nil,
          default: $0.default)
      }, result: declaration.result.isEmpty ? nil : declaration.result,
      exposure: declaration.exposure, origin: target.source.description)
  }

  init(_ route: Route) {
    self.init(
      kind: "route", name: route.pattern.text,
      declaration: route.pattern.text + (route.result.isEmpty ? "" : " -> \(route.result)"),
      parameters: route.pattern.parts.pathKeys + route.pattern.keys,
      result: route.result.isEmpty ? nil : route.result, exposure: route.exposure,
      origin: route.source.description)
  }
}

extension Catalogue {
  /// Lists every interface, after asking the loader.
  init(of core: RoutingCore) {
    core.catchUp(probing: true)
    let actions = core.targets.withLock { $0.all }.flatMap { target in
      target.definition.declarations.map { Interface($0, of: target) }
    }
    let routes = core.routes.withLock { $0.all }
    self.init(interfaces: actions + routes.map(Interface.init))
  }
}
