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
      var refusals = Refusals()
      let name = Arguments(node).literal(0, "the target's name", of: node, into: &refusals)
      let type = AnnotatedType(
        declaration, as: .target, annotatedBy: node, in: context, refusals: &refusals)
      type?.checkInitializer(into: &refusals)
      let functions = actions(of: declaration, into: &refusals)
      try refusals.check()
      guard let name, let type else { return [] }

      var text = RecordText(name: name, implementation: type.qualifiedName)
      for (function, exposure) in functions {
        text.add("action", function.declaration(exposure))
      }
      let access = declaration.modifiers.first {
        ["public", "open", "package"].contains($0.name.text)
      }
      let visibility = access.map { $0.name.text == "open" ? "public " : $0.name.text + " " } ?? ""
      let waits = declaration.isIsolated
      let list = functions.map { entry(for: $0.function, $0.exposure, waits: waits) }
      let make = context.makeUniqueName("make")
      return [
        """
        nonisolated \(raw: visibility)static var actions: [BeeHiveRouting.Action<\(type.name)>] {
          [\(raw: list.isEmpty ? "" : "\n" + list.joined(separator: ",\n") + "\n")]
        }
        """,
        """
        nonisolated private static func \(make)() -> BeeHiveRouting.TargetDefinition {
          BeeHiveRouting.TargetDefinition(\(literal: name)) { \(type.name)() }
        }
        """,
        RecordMembers.record(.target, makingWith: make, text, in: context),
      ]
    }

    private static func actions(
      of declaration: some DeclGroupSyntax, into refusals: inout Refusals
    ) -> [(function: ActionFunction, exposure: Exposure)] {
      var names: Set<String> = []
      return declaration.memberBlock.members.compactMap { member in
        guard let function = member.decl.as(FunctionDeclSyntax.self),
          let attribute = function.attributes.named("Action"),
          let action = ActionFunction(function, for: "@Action", into: &refusals)
        else { return nil }
        if !names.insert(action.name).inserted {
          refusals.add(
            "repeated", at: function.name,
            "there is an action \(action.name) already, and actions are told apart by their names; "
              + "rename one of them")
        }
        let exposure = Arguments(attribute).exposure(at: 0)
        if exposure != .local, action.name.lowercased().hasPrefix("native") {
          refusals.add(
            "native", at: function.name,
            "names that begin with native are never remote; rename it, or remove .\(exposure)")
        }
        return (action, exposure)
      }
    }

    private static func entry(
      for action: ActionFunction, _ exposure: Exposure, waits: Bool
    ) -> String {
      let parameters = action.parameters.map { parameter in
        let missing = parameter.defaultValue.map { ", default: \($0)" } ?? ""
        return "BeeHiveRouting.Parameter(\"\(parameter.key)\", (\(parameter.type)).self\(missing))"
      }
      let throwing = action.canThrow || !action.parameters.isEmpty ? "try " : ""
      let waiting = action.isAsync || waits ? "await " : ""
      let call = action.call { "arguments[\"\($0)\"]" }
      let arguments = action.parameters.isEmpty ? "_" : "arguments"
      return """
        BeeHiveRouting.Action("\(action.name)", [\(parameters.joined(separator: ", "))], \
        exposure: .\(exposure)) { target, \(arguments) in
          \(throwing)\(waiting)target.\(call)
        }
        """
    }
  }

  /// `@Action(.remote)`: read by `@Target`; on its own it only says where it belongs.
  enum ActionMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var refusals = Refusals()
      let isMethod =
        declaration.as(FunctionDeclSyntax.self).map { function in
          !function.modifiers.contains { ["static", "class", "mutating"].contains($0.name.text) }
        } ?? false
      let around = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
      if !isMethod || around?.attributes.named("Target") == nil {
        refusals.add(
          "action", at: node,
          "@Action belongs to a method, not static and not mutating, in the body of a type with @Target"
        )
      }
      try refusals.check()
      return []
    }
  }

  extension AttributeListSyntax {
    /// The attribute of this name, however its module is written.
    func named(_ name: String) -> AttributeSyntax? {
      lazy.compactMap { $0.as(AttributeSyntax.self) }
        .first { $0.attributeName.plainText.split(separator: ".").last == Substring(name) }
    }
  }

  extension DeclGroupSyntax {
    /// Whether calls from outside wait for the type's actor.
    fileprivate var isIsolated: Bool {
      self.is(ActorDeclSyntax.self)
        || attributes.contains { element in
          element.as(AttributeSyntax.self)?.attributeName.plainText.hasSuffix("Actor") == true
        }
    }
  }
#endif
