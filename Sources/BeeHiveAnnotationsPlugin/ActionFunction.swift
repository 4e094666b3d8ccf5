#if Annotations
  import SwiftSyntax

  /// A function that is called with named arguments: its declaration as a record has it, and the call.
  struct ActionFunction {
    struct Parameter {
      /// The name by which it is given: the label, or the name where there is none.
      var key: String
      /// The word before the colon of a call; nil for none.
      var label: String?
      /// The type without `@escaping`.
      var type: TypeSyntax
      var defaultValue: ExprSyntax?
      /// Where a message points.
      var node: FunctionParameterSyntax
    }

    let name: String
    /// The name where it is written.
    let node: TokenSyntax
    let parameters: [Parameter]
    let isAsync: Bool
    let canThrow: Bool
    let result: TypeSyntax?

    /// Nil where no call by names can be made of it; says why.
    init?(_ function: FunctionDeclSyntax, for attribute: String, _ annotation: Annotation) {
      if let clause = function.genericParameterClause {
        annotation.refuse(
          "generic", at: clause,
          "\(attribute) needs a function without type parameters: a call by name has none to give")
        return nil
      }
      name = function.name.identifier?.name ?? function.name.text
      node = function.name
      let effects = function.signature.effectSpecifiers
      isAsync = effects?.asyncSpecifier != nil
      canThrow = effects?.throwsClause != nil
      result = function.signature.returnClause?.type.trimmed
      var parameters: [Parameter] = []
      for parameter in function.signature.parameterClause.parameters {
        if parameter.ellipsis != nil || parameter.type.isInout {
          annotation.refuse(
            "parameter", at: parameter,
            "\(attribute) takes values: make this parameter an array, or return what it changes")
          return nil
        }
        let label = parameter.firstName.identifier?.name ?? parameter.firstName.text
        let isLabelled = parameter.firstName.tokenKind != .wildcard
        let inner = (parameter.secondName ?? parameter.firstName).identifier?.name ?? label
        parameters.append(
          Parameter(
            key: isLabelled ? label : inner, label: isLabelled ? label : nil,
            type: parameter.type.withoutEscaping.trimmed,
            defaultValue: parameter.defaultValue?.value.trimmed, node: parameter))
      }
      self.parameters = parameters
    }

    /// `remote price(sku: String, currency: Currency = euro) async throws -> Price`
    func declaration(_ exposure: Exposure) -> String {
      let list = parameters.map { parameter in
        var text = "\(parameter.key): \(Syntax(parameter.type).plainText)"
        if let value = parameter.defaultValue {
          let plain = Syntax(value).plainText
          text += " = \(plain.hasPrefix(".") ? String(plain.dropFirst()) : plain)"
        }
        return text
      }
      return (exposure == .local ? "" : "\(exposure) ") + "\(name)(\(list.joined(separator: ", ")))"
        + (isAsync ? " async" : "") + (canThrow ? " throws" : "")
        + (result.map { " -> \(Syntax($0).plainText)" } ?? "")
    }

    /// `price(sku: arguments["sku"])`, with `read` for the value of a parameter.
    func call(reading read: (Parameter) -> String) -> String {
      let list = parameters.map { parameter in
        (parameter.label.map { "\($0): " } ?? "") + read(parameter)
      }
      return "\(name)(\(list.joined(separator: ", ")))"
    }
  }

  extension ActionFunction.Parameter {
    /// Whether a call has to give it.
    var isRequired: Bool { defaultValue == nil && !type.isOptional }

    /// Refuses a function that a call from outside would have to give.
    func checkURL(_ exposure: Exposure, _ annotation: Annotation) {
      guard exposure != .local, isRequired, type.isFunction else { return }
      annotation.refuse(
        "function", at: node,
        "no URL can hold the function \(key); make it optional, or remove .\(exposure)")
    }
  }

  /// Whom an action or a route answers, as `AnnotatedExposure` has it.
  enum Exposure: String {
    case local, remote, elevated
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

  extension Annotation {
    /// The word at a place: `.remote`.
    func exposure(at index: Int) -> Exposure {
      let word = unlabelled(index)?.as(MemberAccessExprSyntax.self)?.declName.baseName.text
      return word.flatMap(Exposure.init) ?? .local
    }
  }

  /// The parts of a type as it is written.
  extension TypeSyntax {
    /// The type without `?`, parentheses and the name of its module, and whether it is optional.
    var wrapped: (name: String, takesNil: Bool) {
      if let optional = self.as(OptionalTypeSyntax.self) {
        return (optional.wrappedType.wrapped.name, true)
      }
      if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
        let only = tuple.elements.first
      {
        return only.type.wrapped
      }
      let text = Syntax(self).plainText
      if text.hasPrefix("Optional<") { return (String(text.dropFirst(9).dropLast()), true) }
      return (text.split(separator: ".").last.map(String.init) ?? text, false)
    }

    /// Whether it is optional as it is written.
    var isOptional: Bool { wrapped.takesNil }

    /// Whether it is the type of a function, which no URL can hold.
    var isFunction: Bool {
      if self.is(FunctionTypeSyntax.self) { return true }
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.isFunction }
      if let attributed = self.as(AttributedTypeSyntax.self) {
        return attributed.baseType.isFunction
      }
      guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1 else {
        return false
      }
      return tuple.elements.first?.type.isFunction == true
    }
  }
#endif
