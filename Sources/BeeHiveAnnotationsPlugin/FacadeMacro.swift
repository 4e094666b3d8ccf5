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
      var refusals = Refusals()
      let target = Arguments(node).literal(0, "the target's name", of: node, into: &refusals)
      guard let contract = declaration.as(ProtocolDeclSyntax.self) else {
        refusals.add(
          "facade", at: node, "@Facade belongs to a protocol, whose requirements are the actions")
        try refusals.check()
        return []
      }
      var functions: [(FunctionDeclSyntax, ActionFunction)] = []
      for member in contract.memberBlock.members {
        guard let function = member.decl.as(FunctionDeclSyntax.self),
          let action = ActionFunction(function, for: "@Facade", into: &refusals)
        else {
          refusals.add(
            "requirement", at: member.decl, "a facade is made of functions; move this elsewhere")
          continue
        }
        if !action.isAsync || !action.canThrow {
          refusals.add(
            "effects", at: function.signature,
            "a call by name waits and may fail: declare \(action.name) as async throws")
        }
        functions.append((function, action))
      }
      try refusals.check()
      guard let target else { return [] }

      let access = contract.modifiers.first { ["public", "package"].contains($0.name.text) }
      let visibility = access.map { $0.name.text + " " } ?? ""
      let methods = functions.map { function, action in
        let list = function.signature.parameterClause.parameters.enumerated().map {
          index, parameter in
          "\"\(action.parameters[index].key)\": "
            + (parameter.secondName ?? parameter.firstName).text
        }
        let dictionary = list.isEmpty ? "[:]" : "[\(list.joined(separator: ", "))]"
        return "\(visibility)func \(function.name.text)\(function.signature.trimmed) { "
          + "try await mediator.perform(\"\(target)\", \"\(action.name)\", \(dictionary)) }"
      }
      return [
        """
        \(raw: visibility)struct \(raw: contract.name.text)Calls: \(raw: contract.name.text) {
          private let mediator: BeeHiveRouting.Mediator
          \(raw: visibility)init(_ mediator: BeeHiveRouting.Mediator) { self.mediator = mediator }
          \(raw: methods.joined(separator: "\n  "))
        }
        """
      ]
    }
  }
#endif
