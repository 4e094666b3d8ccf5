#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@Route("app://shop/:id<Int>", .remote)`: the record that leads to the function.
  enum RouteMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var refusals = Refusals()
      let arguments = Arguments(node)
      let pattern = arguments.literal(0, "the pattern", of: node, into: &refusals)
      let priority = arguments.integer("priority", into: &refusals)
      let exposure = arguments.exposure(at: 1)
      let isInType = !context.lexicalContext.isEmpty
      let function = declaration.as(FunctionDeclSyntax.self).flatMap { function in
        let isStatic = function.modifiers.contains { $0.name.text == "static" }
        return isStatic == isInType ? function : nil
      }
      guard let function else {
        refusals.add("route", at: node, "@Route belongs to a static method or a global function")
        try refusals.check()
        return []
      }
      let action = ActionFunction(function, for: "@Route", into: &refusals)
      if let pattern, let action, !action.takesRouteCall {
        for parameter in action.parameters where !pattern.gives(parameter.key) {
          refusals.add(
            "parameter", at: function.signature.parameterClause,
            "the pattern gives no value to \(parameter.key); add :\(parameter.key) to its path, or "
              + "\(parameter.key) to its query")
        }
      }
      try refusals.check()
      guard let pattern, let action else { return [] }

      var text = RecordText(name: pattern, implementation: action.name)
      text.add("priority", priority.map(String.init))
      switch exposure {
      case .local: break
      case .remote: text.add("remote", "true")
      case .elevated: text.add("remote", "elevated")
      }
      text.add("returns", action.result.map { Syntax($0).plainText })
      let throwing = action.canThrow || action.needsTry ? "try " : ""
      let isIsolated = function.attributes.contains { element in
        element.as(AttributeSyntax.self)?.attributeName.plainText.hasSuffix("Actor") == true
      }
      let waiting = action.isAsync || isIsolated ? "await " : ""
      let call =
        action.takesRouteCall
        ? action.call { _ in "call" } : action.call { "call[\"\($0)\"]" }
      let make = context.makeUniqueName("make")
      let kind: DeclModifierSyntax? =
        isInType ? DeclModifierSyntax(name: .keyword(.static, trailingTrivia: .space)) : nil
      return [
        """
        nonisolated private \(kind)func \(make)() -> BeeHiveRouting.RouteDefinition {
          BeeHiveRouting.RouteDefinition(
            \(literal: pattern), exposure: .\(raw: exposure), priority: \(raw: priority ?? 0)
          ) { \(raw: action.parameters.isEmpty ? "_" : "call") in
            \(raw: throwing)\(raw: waiting)\(raw: call)
          }
        }
        """,
        RecordMembers.record(.route, makingWith: make, text, isStatic: isInType, in: context),
      ]
    }
  }

  extension ActionFunction {
    /// Whether it wants to be told of the whole call.
    fileprivate var takesRouteCall: Bool {
      parameters.count == 1
        && Syntax(parameters[0].type).plainText.split(separator: ".").last == "RouteCall"
    }

    fileprivate var needsTry: Bool { !parameters.isEmpty && !takesRouteCall }
  }

  extension String {
    /// Whether a pattern gives a value to a name: `:name`, `*name`, or a key of its query.
    fileprivate func gives(_ name: String) -> Bool {
      let characters = Array(self)
      let wanted = Array(name)
      for index in characters.indices where ":*?&".contains(characters[index]) {
        let rest = characters[(index + 1)...]
        guard rest.starts(with: wanted) else { continue }
        let behind = rest.dropFirst(wanted.count).first
        if behind.map({ !$0.isLetter && !$0.isNumber && $0 != "_" }) ?? true { return true }
      }
      return false
    }
  }
#endif
