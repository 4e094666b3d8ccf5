#if Annotations
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The type that carries the annotation, as far as its source shows it.
  struct AnnotatedType {
    let kind: EntryKind
    let annotation: Annotation
    let declaration: any DeclGroupSyntax
    /// The name in the source, to point at.
    let nameInSource: TokenSyntax
    /// `Shop.Outer.EnglishGreeter`: the Swift module, the types around it as far as the macro can see
    /// them, the type.
    let qualifiedName: String

    /// The name as it is in the source, with backticks if it has any.
    var name: TokenSyntax { nameInSource.trimmed }
    /// The remedy if the Hive cannot make the type by itself.
    var instead: String { kind.remedy + " instead" }

    /// Fails if the annotation cannot be on `declaration` at all.
    init?(_ declaration: some DeclGroupSyntax, as kind: EntryKind, _ annotation: Annotation) {
      guard
        declaration.is(ClassDeclSyntax.self) || declaration.is(ActorDeclSyntax.self)
          || declaration.is(StructDeclSyntax.self) || declaration.is(EnumDeclSyntax.self),
        let named = declaration.asProtocol((any NamedDeclSyntax).self)
      else {
        annotation.refuse(
          "\(annotation.attribute.spelling) belongs to the declaration of a class, an actor, a struct or "
            + "an enum")
        return nil
      }
      (self.kind, self.annotation, self.declaration) = (kind, annotation, declaration)
      nameInSource = named.name
      let around = annotation.context.lexicalContext
      qualifiedName = Self.qualify(
        named.name.plainText, around: around,
        module: annotation.context.swiftModule(of: declaration))

      if let clause = declaration.genericParameters {
        annotation.refuse(
          at: clause,
          "'\(name.text)' is generic, and an entry has no type arguments; " + kind.remedyOfGeneric)
      } else if let generic = around.first(where: { $0.genericParameters != nil }) {
        annotation.refuse(
          at: named.name,
          "'\(name.text)' is inside \(generic.title), which is generic, and an entry has no type "
            + "arguments; " + kind.remedyOfGeneric)
      }
      if around.contains(where: { $0.asProtocol((any DeclGroupSyntax).self) == nil }) {
        annotation.refuse(
          "'\(name.text)' is declared inside a function, and an entry needs a name that others can "
            + "use; move it to the file's top level or into a type")
      }
      if kind != .service, declaration.attributes.hasEarlier(annotation) {
        annotation.refuse("'\(name.text)' is a \(kind) already; remove one annotation")
      }
      checkInitializer()
      // The name goes into the entry.
      _ = annotation.checked(qualifiedName, "the name '\(qualifiedName)'", at: nameInSource)
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

  /// Checks that an accessor may call `Type()`: on any thread, without waiting, without failing.
  ///
  /// Looks only at the body of the type. The compiler checks the rest in the expansion: inherited and missing
  /// initialisers, and isolation that is inferred.
  extension AnnotatedType {
    private func checkInitializer() {
      let members = declaration.memberBlock.members.map(\.decl)
      // The initialisers that () calls.
      let candidates = members.compactMap { $0.as(InitializerDeclSyntax.self) }
        .filter { initializer in
          initializer.signature.parameterClause.parameters.allSatisfy {
            $0.defaultValue != nil || $0.ellipsis != nil
          }
        }
      // The compiler of Swift 6.3 crashes if an expansion makes an enum without one.
      if candidates.isEmpty, declaration.is(EnumDeclSyntax.self),
        !members.contains(where: { $0.is(IfConfigDeclSyntax.self) })
      {
        annotation.refuse(
          at: nameInSource,
          "'\(name.text)' needs an init() without arguments in its body: "
            + "a lookup has none to give; write it, or \(instead)")
      }
      let flaws = candidates.map(flaw)
      guard let flaw = flaws.first ?? nil, !flaws.contains(where: { $0 == nil }) else { return }
      annotation.refuse(at: flaw.node, "init() of '\(name.text)' \(flaw.reason)")
    }

    private func flaw(
      of initializer: InitializerDeclSyntax
    ) -> (node: any SyntaxProtocol, reason: String)? {
      let effects = initializer.signature.effectSpecifiers
      if let mark = initializer.optionalMark {
        return (mark, "may return nil, but an entry needs an instance; \(instead)")
      }
      if let clause = effects?.throwsClause, clause.type?.plainText != "Never" {
        return (clause, "throws, but no caller catches its errors; \(instead)")
      }
      if let async = effects?.asyncSpecifier {
        return (async, "is async, but its caller does not wait; \(instead)")
      }
      guard !initializer.modifiers.contains(where: { $0.name.tokenKind == .keyword(.nonisolated) })
      else { return nil }
      let own = initializer.attributes.named("MainActor")
      guard own != nil || declaration.attributes.named("MainActor") != nil else { return nil }
      return (
        own ?? initializer.initKeyword,
        "belongs to MainActor, and any thread may ask; make it nonisolated, or \(instead)"
      )
    }
  }

  extension AttributeSyntax {
    /// `@BeeHiveService`
    var spelling: String { "@\(attributeName.trimmedDescription)" }
  }

  extension AttributeListSyntax {
    /// Returns whether an annotation repeats an earlier one of its name that says the same.
    ///
    /// The compiler hands over the attribute apart from the declaration, so only locations compare.
    func hasEarlier(
      _ annotation: Annotation, where saysTheSame: (AttributeSyntax) -> Bool = { _ in true }
    ) -> Bool {
      let (attribute, context) = (annotation.attribute, annotation.context)
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

    /// The name in messages of a declaration around another.
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
