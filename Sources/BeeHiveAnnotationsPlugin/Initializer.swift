#if Annotations
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  /// Whether `Type()` is something that an accessor may write: on any thread, in no time, for sure.
  ///
  /// Looks at the body of the type alone. What it cannot see (inherited initialisers, isolation that
  /// is inferred) the compiler checks in the expansion.
  extension AnnotatedType {
    func checkInitializer() {
      let body = declaration.memberBlock
      guard !body.hasConditionalInitializer else { return }
      let initializers = body.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
      // Those that () calls.
      let candidates = initializers.filter {
        $0.signature.parameterClause.parameters.allSatisfy {
          $0.defaultValue != nil || $0.ellipsis != nil
        }
      }
      if candidates.contains(where: { flaw(of: $0) == nil }) { return }
      if let flaw = candidates.first.flatMap(flaw) {
        annotation.refuse(flaw.id, at: flaw.node, flaw.message, fixIts: flaw.fixIts)
      } else if declaration.is(EnumDeclSyntax.self) || !initializers.isEmpty
        || body.hasStoredPropertyWithoutValue
      {
        guard !hasOtherMacros else { return }
        annotation.refuse(
          "missing", at: nameInSource,
          "'\(name.text)' needs an init() without arguments in its body: "
            + "a lookup has none to give; write it, or \(instead)",
          fixIts: [insertion])
      }
    }

    private typealias Flaw = (
      id: String, node: any SyntaxProtocol, message: String, fixIts: [FixIt]
    )

    private func flaw(of initializer: InitializerDeclSyntax) -> Flaw? {
      let effects = initializer.signature.effectSpecifiers
      let call = "init() of '\(name.text)'"
      if let mark = initializer.optionalMark {
        let message = "\(call) may return nil, and who asks wants an instance; \(instead)"
        return ("failable", mark, message, [])
      }
      if let clause = effects?.throwsClause, clause.type?.plainText != "Never" {
        let message = "\(call) throws, and no caller is there to catch; \(instead)"
        return ("throws", clause, message, [])
      }
      if let async = effects?.asyncSpecifier {
        return ("async", async, "\(call) waits, and who asks does not; \(instead)", [])
      }
      guard !initializer.modifiers.contains(where: { $0.name.tokenKind == .keyword(.nonisolated) }),
        let actor = initializer.attributes.named("MainActor")
          ?? declaration.attributes.named("MainActor")
      else { return nil }
      let own = initializer.attributes.named("MainActor") != nil
      return (
        "isolated", own ? actor : initializer.initKeyword,
        "\(call) belongs to MainActor, and any thread may ask; make it nonisolated, or \(instead)",
        own ? [] : [initializer.madeNonisolated]
      )
    }

    /// Whether another attribute may be a macro that writes the initialiser.
    private var hasOtherMacros: Bool {
      declaration.attributes.contains { element in
        guard case .attribute(let attribute) = element else { return true }
        let text = attribute.attributeName.plainText
        let last = text.split(separator: ".").last ?? ""
        let known: Set<Substring> = ["BeeHiveService", "BeeHiveModule", "Target", "MainActor"]
        return last.first?.isUppercase == true && !known.contains(last)
      }
    }

    private var insertion: FixIt {
      let text: DeclSyntax = "init() {}"
      let body = declaration.memberBlock
      let isInline = !body.description.contains(where: \.isNewline)
      let first = MemberBlockItemSyntax(
        decl: text.with(\.leadingTrivia, isInline ? [] : .newline + .spaces(2)),
        trailingTrivia: isInline ? .space : [])
      var changed = body
      changed.members.insert(first, at: changed.members.startIndex)
      return FixIt(
        "addInit", "add 'init() {}'", .replace(oldNode: Syntax(body), newNode: Syntax(changed)))
    }
  }

  extension InitializerDeclSyntax {
    /// `nonisolated init()`
    fileprivate var madeNonisolated: FixIt {
      var changed = self
      changed.leadingTrivia = []
      changed.modifiers.insert(
        DeclModifierSyntax(name: .keyword(.nonisolated, trailingTrivia: .space)),
        at: changed.modifiers.startIndex)
      changed.leadingTrivia = leadingTrivia
      return FixIt(
        "nonisolated", "make it nonisolated",
        .replace(oldNode: Syntax(self), newNode: Syntax(changed)))
    }
  }

  extension MemberBlockSyntax {
    /// Whether the body has initialisers that may or may not be compiled.
    fileprivate var hasConditionalInitializer: Bool {
      members.contains { member in
        guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { return false }
        return condition.tokens(viewMode: .sourceAccurate).contains {
          $0.tokenKind == .keyword(.`init`)
        }
      }
    }

    /// Whether a value must come from somewhere: then no initialiser without arguments is implied.
    fileprivate var hasStoredPropertyWithoutValue: Bool {
      members.contains { member in
        guard let variable = member.decl.as(VariableDeclSyntax.self), variable.attributes.isEmpty,
          !variable.modifiers.contains(where: {
            ["static", "class", "lazy"].contains($0.name.text)
          })
        else { return false }
        let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
        return variable.bindings.contains { $0.needsValue(isVariable: isVariable) }
      }
    }
  }

  extension PatternBindingSyntax {
    fileprivate func needsValue(isVariable: Bool) -> Bool {
      guard initializer == nil, pattern.is(IdentifierPatternSyntax.self) else { return false }
      if isVariable, let type = typeAnnotation?.type {
        // An optional variable starts as nil. `Optional<T>` does not, but may be an alias: no refusal.
        if type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
          return false
        }
      }
      // Not a switch: in a library of the toolchain the enumeration may grow.
      guard let accessors = accessorBlock?.accessors else { return true }
      guard case .accessors(let list) = accessors else { return false }
      return list.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
  }
#endif
