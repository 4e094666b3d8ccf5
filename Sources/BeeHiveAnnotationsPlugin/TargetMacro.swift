#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@Target("shop")`: the table of the type's actions, and the record that leads to it.
  enum TargetMacro: MemberMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let annotation = Annotation(node, in: context)
      let name = annotation.literal(0, "the target's name")
      let type = AnnotatedType(declaration, as: .target, annotation)
      let functions = actions(of: declaration, annotation)
      let visibility = declaration.visibility
      guard annotation.isSound, let name, let type else {
        annotation.report()
        // The type conforms to Target even so.
        return type.map { type in
          [
            """
            nonisolated \(raw: visibility)static var actions: [BeeHiveRouting.Action<\(type.name)>] { [] }
            """
          ]
        } ?? []
      }

      var text = RecordText(name: name, implementation: type.qualifiedName)
      for (action, exposure) in functions {
        text.add("action", action.declaration(exposure))
      }
      let waits = declaration.is(ActorDeclSyntax.self) || declaration.attributes.nameActor
      let list = functions.enumerated().map { index, function in
        let line = annotation.line(of: function.action.node)
        let made = entry(for: function.action, function.exposure, of: type.name.text, waits: waits)
        return "\(line)let action\(index) = \(made)\n#sourceLocation()\n"
      }
      let names = list.indices.map { "action\($0)" }.joined(separator: ", ")
      return [
        """
        nonisolated \(raw: visibility)static var actions: [BeeHiveRouting.Action<\(type.name)>] {
        \(raw: list.joined())return [\(raw: names)]
        }
        """
      ]
        + text.entry(
          .target, making: "BeeHiveRouting.TargetDefinition", in: context,
          """
            BeeHiveRouting.TargetDefinition(\(StringLiteralExprSyntax(content: name))) { \(type.name)() }
          """)
    }

    private static func actions(
      of declaration: some DeclGroupSyntax, _ annotation: Annotation
    ) -> [(action: ActionFunction, exposure: Exposure)] {
      var names: Set<String> = []
      return declaration.memberBlock.members.compactMap { member in
        guard let function = member.decl.as(FunctionDeclSyntax.self),
          let attribute = function.attributes.named("Action"),
          let action = ActionFunction(function, for: "@Action", annotation)
        else { return nil }
        if !names.insert(action.name).inserted {
          annotation.refuse(
            at: function.name,
            "there is an action \(action.name) already, and actions are told apart by their names; "
              + "rename one of them")
        }
        let exposure = Annotation(attribute, in: annotation.context).exposure(at: 0)
        if exposure != .local, action.name.lowercased().hasPrefix("native") {
          annotation.refuse(
            at: function.name,
            "names that begin with native are never remote; rename it, or remove .\(exposure)")
        }
        for parameter in action.parameters { parameter.checkURL(exposure, annotation) }
        return (action, exposure)
      }
    }

    private static func entry(
      for action: ActionFunction, _ exposure: Exposure, of type: String, waits: Bool
    ) -> String {
      let parameters = action.parameters.map { parameter in
        let missing = parameter.ownDefault.map { ", default: \($0)" } ?? ""
        // For arguments that a call from outside has to give, the compiler requires URLConvertible.
        let label = exposure != .local && parameter.isRequired ? "url: " : ""
        return "BeeHiveRouting.Parameter("
          + "\(label)\"\(parameter.key)\", (\(parameter.valueType)).self\(missing))"
      }
      let throwing = action.canThrow || !action.parameters.isEmpty ? "try " : ""
      let waiting = action.isAsync || waits ? "await " : ""
      let call = action.call { "arguments[\"\($0.key)\"]" }
      let arguments = action.parameters.isEmpty ? "_" : "arguments"
      return """
        BeeHiveRouting.Action<\(type)>("\(action.name)", [\(parameters.joined(separator: ", "))], \
        exposure: .\(exposure)) { target, \(arguments) in \(throwing)\(waiting)target.\(call) }
        """
    }
  }

  /// `@Action(.remote)`: read by `@Target`. On its own it only reports a wrong place.
  enum ActionMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let annotation = Annotation(node, in: context)
      let isMethod =
        declaration.as(FunctionDeclSyntax.self).map { function in
          !function.modifiers.contains { ["static", "class", "mutating"].contains($0.name.text) }
        } ?? false
      let around = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
      if !isMethod || around?.attributes.named("Target") == nil {
        annotation.refuse(
          "@Action belongs to a method, not static and not mutating, in the body of a type with @Target"
        )
      }
      try annotation.check()
      return []
    }
  }

  extension AttributeListSyntax {
    /// Returns the attribute of this name, with its module or without.
    func named(_ name: String) -> AttributeSyntax? {
      lazy.compactMap { $0.as(AttributeSyntax.self) }
        .first { $0.attributeName.plainText.split(separator: ".").last == Substring(name) }
    }

    /// Whether one of them may be a global actor, so that calls from outside wait for it.
    var nameActor: Bool {
      contains { element in
        element.as(AttributeSyntax.self)?.attributeName.plainText.hasSuffix("Actor") == true
      }
    }
  }

  extension DeclGroupSyntax {
    /// The modifier of what the type offers to others, with a blank; empty if that is only for its module.
    var visibility: String {
      let access = modifiers.first { ["public", "open", "package"].contains($0.name.text) }
      return access.map { $0.name.text == "open" ? "public " : $0.name.text + " " } ?? ""
    }
  }
#endif
