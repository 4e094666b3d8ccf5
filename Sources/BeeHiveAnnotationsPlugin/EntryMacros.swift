#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@BeeHiveService((any Greeter).self, …, name:scope:priority:needs:)`
  enum ServiceMacro: MemberMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let annotation = Annotation(node, in: context)
      let services = annotation.services()
      let names = services.map(\.name)
      let name = annotation.string("name")
      let scope = annotation.word("scope", of: ["transient", "singleton", "weak", "scoped"])
      let priority = annotation.integer("priority")
      let needs = annotation.needs(of: declaration, .service)
      let type = AnnotatedType(declaration, as: .service, annotation)
      if scope == "weak", let words = annotation["scope"],
        declaration.is(StructDeclSyntax.self) || declaration.is(EnumDeclSyntax.self)
      {
        annotation.refuse(
          at: words,
          "weak is for a class or an actor: a value is copied, not shared; write "
            + ".transient or .singleton")
      }
      for (index, service) in names.enumerated() {
        let isRepeated = names[..<index].contains(service)
        let isEarlier = declaration.attributes.hasEarlier(annotation) {
          // The other annotation reports its own problems.
          let other = Annotation($0, in: context)
          return other.string("name") == name && other.services().contains { $0.name == service }
        }
        guard let type, isRepeated || isEarlier else { continue }
        annotation.refuse(
          "'\(type.name.text)' offers \(service) already; remove one"
            + (isRepeated ? "" : " annotation, or give it a name of its own"))
      }
      try annotation.check()
      guard let type else { return [] }

      // A name for the group that is unique: no other annotation of the type offers this service under this name.
      let group = [names.first, name].compactMap(\.self).joined(separator: " ")
      let isShared = services.count > 1 && scope != nil && scope != "transient"
      return services.flatMap { service in
        var text = RecordText(name: service.name, implementation: type.qualifiedName)
        text.add("name", name)
        text.add("scope", scope)
        text.add("shared", isShared ? group : nil)
        text.add("priority", priority)
        for name in needs { text.add("needs", name) }
        return type.entry(making: service.type.description, text)
      }
    }
  }

  /// `@BeeHiveModule(name:version:level:priority:requires:after:needs:)`
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
      let needs = annotation.needs(of: declaration, .module)
      let type = AnnotatedType(declaration, as: .module, annotation)
      try annotation.check()
      guard let type else { return [] }

      // The name that `hive.register(module:)` and BeeHiveMod give it, so that all ways know one module.
      var text = RecordText(
        name: name ?? type.qualifiedName, implementation: name == nil ? "" : type.qualifiedName)
      text.add("version", version)
      text.add("level", level)
      text.add("priority", priority)
      for name in requires { text.add("requires", name) }
      for name in after { text.add("after", name) }
      for name in needs { text.add("needs", name) }
      return type.entry(making: "any BeeHive.Module", text)
    }
  }

  /// `@BeeHivePlugin("com.example.greet", "1.4.2", name:names:licence:homePage:icon:)`
  enum PluginMacro: MemberMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let annotation = Annotation(node, in: context)
      let id = annotation.literal(0, "the plugin's id")
      let version = annotation.literal(1, "the plugin's version")
      let fields = [
        ("name", "name"), ("licence", "licence"), ("homePage", "homepage"), ("icon", "icon"),
      ].map { label, key in (key, annotation.string(label)) }
      let names = annotation.pairs("names")
      let generic = ([Syntax(declaration)] + context.lexicalContext).contains {
        $0.genericParameters != nil
      }
      if generic {
        annotation.refuse("a generic type holds no constant; annotate a type that is not generic")
      }
      try annotation.check()
      guard let id, let version else { return [] }

      var text = RecordText(name: id, implementation: "")
      text.add("version", version)
      for (key, value) in fields { text.add(key, value) }
      for (language, name) in names { text.add("name[\(language)]", name) }
      // The record makes nothing.
      return [text.constant(.plugin, in: context, "{ _, _, _, _ in false }")]
    }
  }
#endif
