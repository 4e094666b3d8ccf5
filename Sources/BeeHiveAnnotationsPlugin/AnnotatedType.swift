#if Annotations
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The type that carries the annotation, as far as its source shows it.
  struct AnnotatedType {
    /// What to do where the Hive cannot make the type by itself.
    enum Role {
      case service
      case module
      case target

      var instead: String {
        switch self {
        case .service: "register a factory with hive.register instead"
        case .module: "do that work in setUp instead"
        case .target: "register it with hive.mediator.register instead"
        }
      }
    }

    let role: Role
    /// The name as it is in the source, with backticks if it has any.
    let name: TokenSyntax
    /// `Shop.Outer.EnglishGreeter`: the Swift module, the types around it as far as the macro can see
    /// them, the type.
    let qualifiedName: String
    let attributes: AttributeListSyntax
    let body: MemberBlockSyntax
    let isEnum: Bool
    /// Where the name is.
    let location: AbstractSourceLocation?
    /// The location of the annotation.
    let annotation: AbstractSourceLocation?

    /// Nil where the annotation cannot be on `declaration` at all.
    init?(
      _ declaration: some DeclGroupSyntax, as role: Role, annotatedBy attribute: AttributeSyntax,
      in context: some MacroExpansionContext, refusals: inout Refusals
    ) {
      guard
        declaration.is(ClassDeclSyntax.self) || declaration.is(ActorDeclSyntax.self)
          || declaration.is(StructDeclSyntax.self) || declaration.is(EnumDeclSyntax.self),
        let named = declaration.asProtocol((any NamedDeclSyntax).self)
      else {
        refusals.add(
          "declaration", at: attribute,
          "\(attribute.spelling) belongs to the declaration of a class, an actor, a struct or an enum"
        )
        return nil
      }
      self.role = role
      name = named.name.trimmed
      attributes = declaration.attributes
      body = declaration.memberBlock
      isEnum = declaration.is(EnumDeclSyntax.self)

      location = context.location(
        of: named.name, at: .afterLeadingTrivia, filePathMode: .filePath)
      annotation = context.location(
        of: attribute, at: .afterLeadingTrivia, filePathMode: .filePath)
      let around = context.lexicalContext
      qualifiedName = Self.qualify(
        named.name.plainText, around: around, module: context.swiftModule(of: declaration))

      if let clause = declaration.genericParameters {
        refusals.add(
          "generic", at: clause,
          "'\(name.text)' is generic, and an entry has no type arguments; " + Self.notGeneric(role))
      } else if let generic = around.first(where: { $0.genericParameters != nil }) {
        refusals.add(
          "generic", at: named.name,
          "'\(name.text)' stands inside \(generic.title), which is generic, and an entry has no type "
            + "arguments; " + Self.notGeneric(role))
      }
      if around.contains(where: { $0.asProtocol((any DeclGroupSyntax).self) == nil }) {
        refusals.add(
          "local", at: attribute,
          "'\(name.text)' is declared inside a function, and an entry needs a name that others can "
            + "use; move it to the file's top level or into a type")
      }
      if role != .service, attributes.hasEarlier(attribute, in: context) {
        refusals.add(
          "repeated", at: attribute, "'\(name.text)' is a \(role) already; remove one annotation")
      }
    }

    /// The name goes into the entry.
    func checkName(into refusals: inout Refusals) {
      _ = RecordText.checked(
        qualifiedName, "the name '\(qualifiedName)'", at: nameInSource, into: &refusals)
    }

    /// The name where it is written, to point at.
    var nameInSource: TokenSyntax {
      body.parent?.asProtocol((any NamedDeclSyntax).self)?.name ?? name
    }

    private static func notGeneric(_ role: Role) -> String {
      switch role {
      case .service: "annotate a type that is not, or register a factory with hive.register"
      case .module: "annotate a type that is not, or call hive.register(module:)"
      case .target: "annotate a type that is not, or register it with hive.mediator.register"
      }
    }

    private static func qualify(_ name: String, around: [Syntax], module: String?) -> String {
      var parts = [name]
      var namesModule = false
      for syntax in around {
        if let type = syntax.as(ExtensionDeclSyntax.self)?.extendedType {
          let extended = type.plainText.split(separator: ".").map(String.init)
          // `extension Shop.Outer` in `Shop` names the module, `extension Shop` a type of its name.
          namesModule = extended.count > 1 && extended.first == module
          parts = extended + parts
        } else if let type = syntax.asProtocol((any DeclGroupSyntax).self),
          let named = type.asProtocol((any NamedDeclSyntax).self)
        {
          parts.insert(named.name.plainText, at: 0)
        }
      }
      if let module, !namesModule { parts.insert(module, at: 0) }
      return parts.joined(separator: ".")
    }
  }

  extension AttributeSyntax {
    /// `@BeeHiveService`
    var spelling: String { "@\(attributeName.trimmedDescription)" }
  }

  extension AttributeListSyntax {
    /// Returns whether `attribute` repeats one of this name that comes earlier and says the same.
    ///
    /// The compiler hands over the attribute apart from the declaration: only locations compare.
    func hasEarlier(
      _ attribute: AttributeSyntax, in context: some MacroExpansionContext,
      where saysTheSame: (AttributeSyntax) -> Bool = { _ in true }
    ) -> Bool {
      let first = lazy.compactMap { $0.as(AttributeSyntax.self) }
        .first { $0.spelling == attribute.spelling && saysTheSame($0) }
      guard let first = first.flatMap({ context.location(of: $0) }),
        let own = context.location(of: attribute)
      else { return false }
      return first.line.trimmedDescription != own.line.trimmedDescription
        || first.column.trimmedDescription != own.column.trimmedDescription
    }
  }

  extension SyntaxProtocol {
    /// The type parameters of this declaration, if it has any.
    var genericParameters: GenericParameterClauseSyntax? {
      asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause
    }

    /// How messages call a declaration around another.
    var title: String {
      asProtocol((any NamedDeclSyntax).self).map { "'\($0.name.text)'" } ?? "a declaration"
    }

    /// The tokens in one line, without comments and backticks.
    var plainText: String {
      var text = ""
      var hasGap = false
      for token in tokens(viewMode: .sourceAccurate) {
        let isApart = hasGap || !token.leadingTrivia.isEmpty
        if isApart, !text.isEmpty { text += " " }
        text += token.identifier?.name ?? token.text
        hasGap = !token.trailingTrivia.isEmpty
      }
      return text
    }
  }

  extension MacroExpansionContext {
    /// The module that `#fileID` names.
    fileprivate func swiftModule(of node: some SyntaxProtocol) -> String? {
      guard let file = location(of: node)?.file.as(StringLiteralExprSyntax.self),
        let text = file.representedLiteralValue, let slash = text.firstIndex(of: "/")
      else { return nil }
      return String(text[..<slash])
    }
  }
#endif
