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
      let annotation = Annotation(node, in: context)
      let pattern = annotation.literal(0, "the pattern")
      let priority = annotation.integer("priority")
      let exposure = annotation.exposure(at: 1)
      let isInType = !context.lexicalContext.isEmpty
      let function = declaration.as(FunctionDeclSyntax.self).flatMap { function in
        let isStatic = function.modifiers.contains { $0.name.text == "static" }
        return isStatic == isInType ? function : nil
      }
      guard let function else {
        annotation.refuse("route", "@Route belongs to a static method or a global function")
        try annotation.check()
        return []
      }
      if let generic = context.lexicalContext.first(where: { $0.genericParameters != nil }) {
        annotation.refuse(
          "generic",
          "\(generic.title) is generic, and an entry has no type arguments; move the function out of it"
        )
      }
      let action = ActionFunction(function, for: "@Route", annotation)
      if let pattern, let action, !action.takesRouteCall {
        compare(action, with: pattern, annotation)
        for parameter in action.parameters { parameter.checkURL(exposure, annotation) }
      }
      try annotation.check()
      guard let pattern, let action else { return [] }

      var text = RecordText(name: pattern, implementation: action.name)
      text.add("priority", priority)
      text.add("remote", [.remote: "true", .elevated: "elevated"][exposure])
      text.add("returns", action.result.map { Syntax($0).plainText })
      let throwing = action.canThrow || action.needsTry ? "try " : ""
      let waiting = action.isAsync || function.attributes.nameActor ? "await " : ""
      let call =
        action.takesRouteCall
        ? action.call { _ in "call" }
        : action.call { parameter in
          let value = "call[\(exposure == .local ? "" : "url: ")\"\(parameter.key)\"]"
          return parameter.defaultValue.map { "(\(value) ?? \($0))" } ?? value
        }
      let make = context.makeUniqueName("make")
      let kind: DeclModifierSyntax? =
        isInType ? DeclModifierSyntax(name: .keyword(.static, trailingTrivia: .space)) : nil
      return [
        """
        nonisolated private \(kind)func \(make)() -> BeeHiveRouting.RouteDefinition {
          BeeHiveRouting.RouteDefinition(
            \(literal: pattern), exposure: .\(raw: exposure), priority: \(raw: priority ?? 0)
          ) { \(raw: action.parameters.isEmpty ? "_" : "call") in
        \(raw: annotation.line(of: function.name))return \(raw: throwing)\(raw: waiting)\(raw: call)
        #sourceLocation()
          }
        }
        """,
        RecordDeclaration.record(.route, makingWith: make, text, isStatic: isInType, in: context),
      ]
    }

    /// Holds the types of the function to those of the pattern.
    private static func compare(
      _ action: ActionFunction, with pattern: String, _ annotation: Annotation
    ) {
      let values = PatternValues(pattern).values
      for parameter in action.parameters {
        guard let value = values[parameter.key] else {
          annotation.refuse(
            "parameter", at: parameter.node,
            "the pattern gives no value to \(parameter.key); add :\(parameter.key) to its path, or "
              + "\(parameter.key) to its query")
          continue
        }
        if !value.canBe(parameter.type, hasDefault: parameter.defaultValue != nil) {
          annotation.refuse(
            "type", at: parameter.node,
            "the pattern gives \(parameter.key) as \(value), and the function takes "
              + "\(Syntax(parameter.type).plainText); write one type in both")
        }
      }
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
#endif
