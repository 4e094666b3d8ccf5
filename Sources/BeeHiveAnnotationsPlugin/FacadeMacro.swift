#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@Facade("shop") protocol Shop { … }`: a structure that calls the target for each requirement.
  enum FacadeMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let annotation = Annotation(node, in: context)
      let target = annotation.literal(0, "the target's name")
      guard let contract = declaration.as(ProtocolDeclSyntax.self) else {
        annotation.refuse("@Facade belongs to a protocol, whose requirements are the actions")
        try annotation.check()
        return []
      }
      let visibility = contract.visibility
      var functions: [ActionFunction] = []
      var methods: [String] = []
      for member in contract.memberBlock.members {
        guard let function = member.decl.as(FunctionDeclSyntax.self) else {
          annotation.refuse(at: member.decl, "a facade is made of functions; move this elsewhere")
          continue
        }
        guard let action = ActionFunction(function, for: "@Facade", annotation) else { continue }
        if !action.isAsync || !action.canThrow {
          annotation.refuse(
            at: function.signature,
            "a call by name waits and may fail: declare \(action.name) as async throws")
        }
        functions.append(action)
        methods.append(visibility + method(function) + " { \(call(of: action, target ?? "")) }")
      }
      try annotation.check()

      let name = contract.name.text
      let declarations = functions.map { "\"\($0.declaration(.local))\"" }
      return [
        """
        \(raw: visibility)struct \(raw: name)Calls: \(raw: name), BeeHiveRouting.FacadeCalls {
          \(raw: visibility)static var target: String { \(literal: target ?? "") }
          \(raw: visibility)static var declarations: [String] {
            [\(raw: declarations.joined(separator: ", "))]
          }
          private let mediator: BeeHiveRouting.Mediator
          \(raw: visibility)init(_ mediator: BeeHiveRouting.Mediator) { self.mediator = mediator }
          \(raw: methods.joined(separator: "\n  "))
        }
        """
      ]
    }

    /// Returns the function as the structure has it: an optional parameter may be left out.
    private static func method(_ function: FunctionDeclSyntax) -> String {
      var signature = function.signature.trimmed
      let parameters = signature.parameterClause.parameters.map { parameter in
        guard parameter.type.isOptional, parameter.defaultValue == nil else { return parameter }
        var parameter = parameter
        parameter.type = parameter.type.trimmed
        parameter.defaultValue = InitializerClauseSyntax(
          equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
          value: NilLiteralExprSyntax())
        return parameter
      }
      signature.parameterClause.parameters = FunctionParameterListSyntax(parameters)
      let conditions = function.genericWhereClause.map { " " + $0.trimmedDescription } ?? ""
      return "func \(function.name.text)\(signature)\(conditions)"
    }

    /// Returns the call. It does not pass nil, so that the target's default is used.
    private static func call(of action: ActionFunction, _ target: String) -> String {
      let list = action.parameters.map { parameter in
        "\"\(parameter.key)\": "
          + (parameter.secondName ?? parameter.firstName).text
      }
      let arguments =
        list.isEmpty ? "[:]" : "BeeHiveRouting.Arguments(given: [\(list.joined(separator: ", "))])"
      return "try await mediator.perform(\"\(target)\", \"\(action.name)\", \(arguments))"
    }
  }
#endif
