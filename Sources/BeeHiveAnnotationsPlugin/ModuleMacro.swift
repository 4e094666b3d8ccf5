#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@BeeHiveModule(name:version:level:priority:requires:after:)`
  enum ModuleMacro: MemberMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let annotation = Annotation(node, in: context)
      let name = annotation.string("name")
      let version = annotation.string("version")
      let level = annotation.word("level", of: ["basic", "normal"])
      let priority = annotation.integer("priority")
      let requires = annotation.strings("requires")
      let after = annotation.strings("after")
      let type = AnnotatedType(declaration, as: .module, annotation)
      type?.checkInitializer()
      type?.checkName()
      try annotation.check()
      guard let type else { return [] }

      // Named as `hive.register(module:)` and BeeHiveMod name it, so that all ways know one module.
      var text = RecordText(
        name: name ?? type.qualifiedName, implementation: name == nil ? "" : type.qualifiedName)
      text.add("version", version)
      text.add("level", level)
      text.add("priority", priority)
      for name in requires { text.add("requires", name) }
      for name in after { text.add("after", name) }
      return RecordDeclaration.declarations(making: type, as: "any BeeHive.Module", text)
    }
  }
#endif
