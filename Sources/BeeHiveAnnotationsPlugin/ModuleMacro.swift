#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@BeeHiveModule(name:level:priority:requires:after:)`
  enum ModuleMacro: MemberMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var refusals = Refusals()
      let arguments = Arguments(node)
      let name = arguments.string("name", into: &refusals)
      let level = arguments.word("level", of: ["basic", "normal"], into: &refusals)
      let priority = arguments.integer("priority", into: &refusals)
      let requires = arguments.strings("requires", into: &refusals)
      let after = arguments.strings("after", into: &refusals)
      let type = AnnotatedType(
        declaration, as: .module, annotatedBy: node, in: context, refusals: &refusals)
      type?.checkInitializer(into: &refusals)
      type?.checkName(into: &refusals)
      try refusals.check()
      guard let type else { return [] }

      // Named as `hive.register(module:)` and BeeHiveMod name it, so that all ways know one module.
      var text = RecordText(
        name: name ?? type.qualifiedName, implementation: name == nil ? "" : type.qualifiedName)
      text.add("level", level)
      text.add("priority", priority.map(String.init))
      for name in requires { text.add("requires", name) }
      for name in after { text.add("after", name) }
      return RecordMembers.declarations(
        .module, making: type, as: "any BeeHive.Module", text, in: context)
    }
  }
#endif
