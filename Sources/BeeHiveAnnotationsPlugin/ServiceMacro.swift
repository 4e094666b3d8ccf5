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
      if scope == "weak", let words = arguments["scope"],
        declaration.is(StructDeclSyntax.self) || declaration.is(EnumDeclSyntax.self)
      {
        refusals.add(
          "scope", at: words,
          "weak is for a class or an actor: a value has no one instance to hold; write "
            + ".transient or .singleton")
      }
      if let type, let service,
        type.attributes.hasEarlier(
          node, in: context, where: { Self.offers(service.name, named: name, $0) })
      {
        refusals.add(
          "repeated", at: node,
          "'\(type.name.text)' offers \(service.name) already; remove one annotation, or give it a "
            + "name of its own")
      }
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

    /// Whether an annotation offers this service under this name.
    private static func offers(
      _ service: String, named name: String?, _ attribute: AttributeSyntax
    ) -> Bool {
      // What is wrong with that one it says itself.
      var refusals = Refusals()
      let arguments = Arguments(attribute)
      return arguments.service(into: &refusals, of: attribute)?.name == service
        && arguments.string("name", into: &refusals) == name
    }
  }
#endif
