#if Annotations
  import SwiftSyntax

  /// What a type says of itself as it is written.
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
