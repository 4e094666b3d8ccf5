#if Annotations
  import SwiftSyntax

  /// Finds the services that a type looks up, as far as its source shows it: `hive.service((any Conn).self)`,
  /// `let conn: any Conn = try hive.service()`, and both with `load`.
  ///
  /// The Hive is called `hive`, or is `Hive.process`. Ignores lookups in closures, with `try?`, of a given name or with
  /// a parameter, lookups whose type is written elsewhere, and lookups of other functions.
  final class Lookups: SyntaxVisitor {
    private(set) var services: [String] = []
    /// The types of properties that are written out, by the property's name.
    private var properties: [String: TypeSyntax] = [:]

    /// Looks at the code that makes an instance: initialisers, and values of properties; in a module also its methods.
    init(in declaration: some DeclGroupSyntax, of kind: EntryKind) {
      super.init(viewMode: .sourceAccurate)
      let members = declaration.memberBlock.members.map(\.decl)
      let bindings = members.compactMap { $0.as(VariableDeclSyntax.self) }
        .filter { !$0.modifiers.contains { ["static", "class", "lazy"].contains($0.name.text) } }
        .flatMap(\.bindings)
      for binding in bindings {
        properties[binding.pattern.plainText] = binding.typeAnnotation?.type
      }
      for binding in bindings { binding.initializer.map { walk($0) } }
      for member in members
      where member.is(InitializerDeclSyntax.self)
        || kind == .module && member.is(FunctionDeclSyntax.self)
      { walk(member) }
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: TryExprSyntax) -> SyntaxVisitorContinueKind {
      node.questionOrExclamationMark?.tokenKind == .postfixQuestionMark
        ? .skipChildren : .visitChildren
    }

    override func visit(_ call: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
      guard let callee = call.calledExpression.as(MemberAccessExprSyntax.self),
        ["service", "load"].contains(callee.declName.baseName.text),
        let hive = callee.base?.plainText,
        hive == "Hive.process" || hive.split(separator: ".").last == "hive",
        call.arguments.allSatisfy({ $0.label == nil })
      else { return .visitChildren }
      let type =
        call.arguments.isEmpty
        ? typeAround(call).map { Syntax($0.bare.type) }
        : call.arguments.first?.expression.metatype.map { Syntax($0.withoutParentheses) }
      if let name = type?.serviceName, name.utf8.count <= RecordText.longest {
        services.append(name)
      }
      return .visitChildren
    }

    /// Returns the type of the variable, parameter or property that a call gives a value to.
    private func typeAround(_ call: FunctionCallExprSyntax) -> TypeSyntax? {
      var value = Syntax(call)
      while let parent = value.parent,
        parent.is(TryExprSyntax.self) || parent.is(AwaitExprSyntax.self)
      { value = parent }
      let place = value.parent?.parent
      let type =
        place?.as(PatternBindingSyntax.self)?.typeAnnotation?.type
        ?? place?.as(FunctionParameterSyntax.self)?.type
      if let type { return type }
      // An assignment, whether or not its operator has been found.
      let parts = value.parent.map { Array($0.children(viewMode: .sourceAccurate)) } ?? []
      guard parts.count == 3, parts[1].is(AssignmentExprSyntax.self), parts[2] == value
      else { return nil }
      let name = parts[0].plainText
      return properties[name.hasPrefix("self.") ? String(name.dropFirst(5)) : name]
    }
  }

  extension Annotation {
    /// Returns the services in the annotation, then others that the type's source shows, each once.
    func needs(of declaration: some DeclGroupSyntax, _ kind: EntryKind) -> [String] {
      let all = strings("needs") + Lookups(in: declaration, of: kind).services
      return all.enumerated().filter { !all[..<$0].contains($1) }.map(\.element)
    }
  }

  extension ExprSyntax {
    /// `(any Greeter)` of `(any Greeter).self`; nil for another expression.
    var metatype: ExprSyntax? {
      guard let access = self.as(MemberAccessExprSyntax.self),
        access.declName.baseName.tokenKind == .keyword(.self)
      else { return nil }
      return access.base
    }
  }

  extension SyntaxProtocol {
    /// The name that an entry has for this type: without `any`.
    var serviceName: String {
      let text = plainText
      return text.hasPrefix("any ") ? String(text.dropFirst(4)) : text
    }
  }
#endif
