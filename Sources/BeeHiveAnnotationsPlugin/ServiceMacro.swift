#if Annotations
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@BeeHiveService((any Greeter).self, name:scope:priority:)`
  enum ServiceMacro: MemberMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var refusals = Refusals()
      let arguments = Arguments(node)
      let service = arguments.service(into: &refusals, of: node)
      let name = arguments.string("name", into: &refusals)
      let scope = arguments.word(
        "scope", of: ["transient", "singleton", "weak", "scoped"], into: &refusals)
      let priority = arguments.integer("priority", into: &refusals)
      let type = AnnotatedType(
        declaration, as: .service, annotatedBy: node, in: context, refusals: &refusals)
      type?.checkInitializer(into: &refusals)
      type?.checkName(into: &refusals)
      try refusals.check()
      guard let service, let type else { return [] }

      var text = RecordText(name: service.name, implementation: type.qualifiedName)
      text.add("name", name)
      text.add("scope", scope)
      text.add("priority", priority.map(String.init))
      return RecordMembers.declarations(.service, making: type, as: service.type, text, in: context)
    }
  }
#endif
