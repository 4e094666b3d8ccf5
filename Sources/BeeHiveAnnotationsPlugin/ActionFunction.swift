#if Annotations
  import SwiftSyntax

  /// A function that is called with named arguments: its declaration as a record has it, and the call.
  struct ActionFunction {
    let name: String
    /// The name in the source.
    let node: TokenSyntax
    let parameters: [FunctionParameterSyntax]
    let isAsync: Bool
    let canThrow: Bool
    let result: TypeSyntax?

    /// Fails, and says why, if no call by names can be made of the function.
    init?(_ function: FunctionDeclSyntax, for attribute: String, _ annotation: Annotation) {
      if let clause = function.genericParameterClause {
        annotation.refuse(
          at: clause,
          "\(attribute) needs a function without type parameters: a call by name has none to give")
        return nil
      }
      name = function.name.identifier?.name ?? function.name.text
      node = function.name
      let effects = function.signature.effectSpecifiers
      isAsync = effects?.asyncSpecifier != nil
      canThrow = effects?.throwsClause != nil
      result = function.signature.returnClause?.type.trimmed
      parameters = Array(function.signature.parameterClause.parameters)
      if let parameter = parameters.first(where: { $0.ellipsis != nil || $0.type.isInout }) {
        annotation.refuse(
          at: parameter,
          "\(attribute) takes values: make this parameter an array, or return what it changes")
        return nil
      }
    }

    /// `remote price(sku: String, currency: Currency = euro) async throws -> Price`
    func declaration(_ exposure: Exposure) -> String {
      let list = parameters.map { parameter in
        var text = "\(parameter.key): \(Syntax(parameter.valueType).plainText)"
        if let value = parameter.ownDefault {
          let plain = Syntax(value).plainText
          text += " = \(plain.hasPrefix(".") ? String(plain.dropFirst()) : plain)"
        }
        return text
      }
      return (exposure == .local ? "" : "\(exposure) ")
        + "\(name)(\(list.joined(separator: ", ")))"
        + (isAsync ? " async" : "") + (canThrow ? " throws" : "")
        + (result.map { " -> \(Syntax($0).plainText)" } ?? "")
    }

    /// `price(sku: arguments["sku"])`, with `read` for the value of a parameter.
    func call(reading read: (FunctionParameterSyntax) -> String) -> String {
      let list = parameters.map { parameter in
        (parameter.label.map { "\($0): " } ?? "") + read(parameter)
      }
      return "\(name)(\(list.joined(separator: ", ")))"
    }
  }

  extension FunctionParameterSyntax {
    /// The word before the colon of a call; nil for none.
    var label: String? {
      firstName.tokenKind == .wildcard ? nil : firstName.identifier?.name ?? firstName.text
    }
    /// The name in calls: the label, or the name if there is no label.
    var key: String { label ?? (secondName ?? firstName).identifier?.name ?? firstName.text }
    /// The type without `@escaping`.
    var valueType: TypeSyntax { type.withoutEscaping.trimmed }
    /// The value of a missing argument.
    var ownDefault: ExprSyntax? { defaultValue?.value.trimmed }
    /// Whether a call has to give it.
    var isRequired: Bool { defaultValue == nil && !type.isOptional }

    /// Refuses a parameter that a call from outside would have to give and that is a function.
    func checkURL(_ exposure: Exposure, _ annotation: Annotation) {
      guard exposure != .local, isRequired, type.isFunction else { return }
      annotation.refuse(
        at: self,
        "no URL can hold the function \(key); make it optional, or remove .\(exposure)")
    }
  }

  extension TypeSyntax {
    fileprivate var isInout: Bool {
      self.as(AttributedTypeSyntax.self)?.specifiers.contains { specifier in
        specifier.as(SimpleTypeSpecifierSyntax.self)?.specifier.tokenKind == .keyword(.inout)
      } == true
    }

    fileprivate var withoutEscaping: TypeSyntax {
      guard var type = self.as(AttributedTypeSyntax.self) else { return self }
      type.attributes = type.attributes.filter { element in
        element.as(AttributeSyntax.self)?.attributeName.trimmedDescription != "escaping"
      }
      return type.attributes.isEmpty && type.specifiers.isEmpty ? type.baseType : TypeSyntax(type)
    }
  }

  /// The callers that an action or a route answers, as `AnnotatedExposure` has it.
  enum Exposure: String { case local, remote, elevated }

  extension Annotation {
    /// Returns the word at a place: `.remote`.
    func exposure(at index: Int) -> Exposure {
      let word = unlabelled(index)?.as(MemberAccessExprSyntax.self)?.declName.baseName.text
      return word.flatMap(Exposure.init) ?? .local
    }
  }

  /// The parts of a type as it is written.
  extension TypeSyntax {
    /// The type without `?`, parentheses and attributes, and whether it is optional.
    var bare: (type: TypeSyntax, takesNil: Bool) {
      if let optional = self.as(OptionalTypeSyntax.self) {
        return (optional.wrappedType.bare.type, true)
      }
      if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.bare }
      if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
        let only = tuple.elements.first
      {
        return only.type.bare
      }
      return (self, false)
    }

    /// The name of the type without `?`, parentheses and its module, and whether it is optional.
    var wrapped: (name: String, takesNil: Bool) {
      let (type, takesNil) = bare
      let text = Syntax(type).plainText
      if text.hasPrefix("Optional<") { return (String(text.dropFirst(9).dropLast()), true) }
      return (text.split(separator: ".").last.map(String.init) ?? text, takesNil)
    }

    /// Whether it is optional as it is written.
    var isOptional: Bool { wrapped.takesNil }

    /// Whether it is the type of a function. No URL can hold one.
    var isFunction: Bool { bare.type.is(FunctionTypeSyntax.self) }
  }
#endif
