/// The functions by which callers reach a target: what `@Facade` writes for a protocol.
public protocol FacadeCalls: Sendable {
  /// The target's name.
  static var target: String { get }
  /// What each function calls, as `ActionDeclaration(parsing:)` reads it.
  static var declarations: [String] { get }

  /// Creates a value that calls through a mediator.
  ///
  /// - Parameter mediator: Where the target is looked up, at each call.
  init(_ mediator: Mediator)
}

extension Mediator {
  /// Checks that each function of a facade is an action of its target, and gives it the parameters that it takes.
  ///
  /// For a test of the host, or its start: a facade is compiled without the target. Types of parameters are compared
  /// at the call, and what only a fallback would answer is missing here.
  ///
  /// - Parameter facade: What `@Facade` wrote: `try hive.mediator.check(ShopCalls.self)`.
  /// - Throws: ``RoutingError`` with every problem in its message; its code and key are those of the first.
  public func check(_ facade: any FacadeCalls.Type) throws(RoutingError) {
    var problems: [RoutingError] = []
    for text in facade.declarations {
      do throws(RoutingError) {
        let wanted = try ActionDeclaration(parsing: text)
        let (target, action) = try core.declared(facade.target, wanted.name, origin: .local)
        problems += wanted.problems(with: action.declaration, of: target)
      } catch {
        problems.append(error)
      }
    }
    guard let first = problems.first else { return }
    var told: Set<String> = []
    let messages = problems.map(\.message).filter { told.insert($0).inserted }
    throw RoutingError(
      first.code, "\(facade): " + messages.joined(separator: "; "), key: first.key,
      sources: first.sources)
  }
}

extension ActionDeclaration {
  /// What keeps a function that is declared like this from calling an action.
  fileprivate func problems(with action: Self, of target: RegisteredTarget) -> [RoutingError] {
    let name = "\(target.definition.name).\(action.name) of \(target.source)"
    let known = Set(action.parameters.map(\.name))
    let undeclared = parameters.filter { !known.contains($0.name) }.map { parameter in
      RoutingError(
        undeclared: parameter.name, by: action, called: name, sources: [target.source])
    }
    let given = Set(parameters.filter { !$0.isOptional }.map(\.name))
    let missing = action.parameters.filter { parameter in
      !parameter.isOptional && parameter.defaultText == nil && !given.contains(parameter.name)
    }
    return undeclared
      + missing.map { parameter in
        RoutingError(
          .missingParameter,
          "\(name) needs the parameter \(parameter.name), of type \(parameter.type); give it, and not "
            + "as an optional", key: parameter.name, sources: [target.source])
      }
  }
}
