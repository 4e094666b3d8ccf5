#if Annotations
  import SwiftDiagnostics
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// One annotation in its expansion: its place in the source, and its problems. All problems are reported, not
  /// only the first.
  final class Annotation {
    let attribute: AttributeSyntax
    let context: any MacroExpansionContext
    private var diagnostics: [Diagnostic] = []

    init(_ attribute: AttributeSyntax, in context: some MacroExpansionContext) {
      self.attribute = attribute
      self.context = context
      #if TOOLCHAIN
        if let refusal = toolchainRefusal { refuse(refusal) }
      #endif
    }

    /// Notes a problem at a node of the source; without one, at the annotation.
    func refuse(at node: (any SyntaxProtocol)? = nil, _ message: String) {
      let place = Syntax(fromProtocol: node ?? attribute)
      diagnostics.append(Diagnostic(node: place, message: MacroExpansionErrorMessage(message)))
    }

    /// Whether it has no problems.
    var isSound: Bool { diagnostics.isEmpty }

    /// Reports the problems of an annotation that writes something else instead of its entry. Others can rely
    /// on that, so one mistake is one error.
    func report() { diagnostics.forEach(context.diagnose) }

    /// Throws the problems, if there are any.
    func check() throws(DiagnosticsError) {
      if !isSound { throw DiagnosticsError(diagnostics: diagnostics) }
    }

    /// Returns the directive that gives the following text the location of a node.
    func line(of node: some SyntaxProtocol) -> String {
      let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
      return location.map { "#sourceLocation(file: \($0.file), line: \($0.line))\n" } ?? ""
    }

    /// Returns `text`, if a record can hold it.
    func checked(_ text: String, _ what: String, at node: some SyntaxProtocol) -> String? {
      if text.isEmpty {
        refuse(at: node, "\(what) must not be empty")
      } else if text.utf8.count > RecordText.longest {
        refuse(
          at: node,
          "\(what) is \(text.utf8.count) bytes long; an entry's names have at most "
            + "\(RecordText.longest)")
      } else if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        refuse(at: node, "\(what) holds a control character; remove it")
      } else {
        return text
      }
      return nil
    }
  }

  /// The arguments of an annotation, read from the source. An entry is a constant, so only what is
  /// there can go into it.
  extension Annotation {
    private var list: LabeledExprListSyntax {
      if case .argumentList(let list) = attribute.arguments { list } else { [] }
    }

    /// The argument of this label; nil if it is left out.
    subscript(_ label: String) -> ExprSyntax? {
      list.first { $0.label?.text == label }?.expression
    }

    private var unlabelled: [ExprSyntax] {
      list.compactMap { $0.label == nil ? $0.expression : nil }
    }

    /// Returns the argument without a label at this place; nil if it is left out.
    func unlabelled(_ index: Int) -> ExprSyntax? { unlabelled.dropFirst(index).first }

    /// Returns the string literal without a label at this place; refuses if it is missing.
    func literal(_ index: Int, _ what: String) -> String? {
      guard let expression = unlabelled(index) else {
        refuse("\(attribute.spelling) needs \(what)")
        return nil
      }
      return text(expression, what)
    }

    /// Returns the types in `(any Greeter).self`, as they were written, and their names without `any`.
    func services() -> [(type: ExprSyntax, name: String)] {
      unlabelled.compactMap(service)
    }

    private func service(in argument: ExprSyntax) -> (type: ExprSyntax, name: String)? {
      guard let base = argument.metatype else {
        refuse(
          at: argument,
          "name the service as a type, as in (any Greeter).self: the entry carries its name")
        return nil
      }
      return checked(base.withoutParentheses.serviceName, "the service", at: base).map {
        (base.trimmed, $0)
      }
    }

    /// Returns a 32-bit integer literal, with a sign or without.
    func integer(_ label: String) -> Int32? {
      guard let expression = self[label] else { return nil }
      let literal = expression.withoutParentheses
      let minus = literal.as(PrefixOperatorExprSyntax.self).flatMap { prefix in
        prefix.operator.text == "-" ? prefix.expression : nil
      }
      let value = (minus ?? literal).as(IntegerLiteralExprSyntax.self).flatMap { number in
        // swift-syntax 600 does not read `1_000`, `0x10`, `0b1` and `0o7`.
        let digits = number.literal.text.filter { $0 != "_" }
        let radix = ["0x": 16, "0o": 8, "0b": 2][digits.prefix(2)] ?? 10
        let sign = minus == nil ? "" : "-"
        return Int32(sign + digits.dropFirst(radix == 10 ? 0 : 2), radix: radix)
      }
      if value == nil {
        refuse(
          at: expression,
          "\(label) must be an integer literal of 32 bits: an entry is a constant")
      }
      return value
    }

    /// Returns the word of `.basic`.
    func word(_ label: String, of words: [String]) -> String? {
      guard let expression = self[label] else { return nil }
      let name = expression.as(MemberAccessExprSyntax.self)?.declName.baseName.plainText
      guard let name, words.contains(name) else {
        let choice = words.map { ".\($0)" }.joined(separator: ", ")
        refuse(at: expression, "\(label) must be one of \(choice), written out here")
        return nil
      }
      return name
    }

    /// Returns one string literal; nil if there is none, or `nil`.
    func string(_ label: String) -> String? { strings(label).first }

    /// Returns one string literal, or an array of them.
    func strings(_ label: String) -> [String] {
      guard let expression = self[label], !expression.is(NilLiteralExprSyntax.self) else {
        return []
      }
      let parts = expression.as(ArrayExprSyntax.self)?.elements.map(\.expression) ?? [expression]
      return parts.compactMap { text($0, label) }
    }

    /// Returns the pairs of a dictionary literal of strings, in their order.
    func pairs(_ label: String) -> [(key: String, value: String)] {
      guard let expression = self[label] else { return [] }
      guard let content = expression.as(DictionaryExprSyntax.self)?.content else {
        refuse(at: expression, "\(label) must be a dictionary literal: an entry is a constant")
        return []
      }
      return (content.as(DictionaryElementListSyntax.self) ?? []).compactMap { element in
        let key = text(element.key, "a key of \(label)")
        let value = text(element.value, label)
        return key.flatMap { key in value.map { (key, $0) } }
      }
    }

    private func text(_ expression: ExprSyntax, _ label: String) -> String? {
      guard let value = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
        refuse(
          at: expression,
          "\(label) must be a string literal without interpolation: an entry is a constant")
        return nil
      }
      return checked(value, label, at: expression)
    }
  }

  extension ExprSyntax {
    /// `any Greeter` of `(any Greeter)`.
    var withoutParentheses: ExprSyntax {
      guard let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1,
        let element = tuple.elements.first, element.label == nil
      else { return self }
      return element.expression.withoutParentheses
    }
  }
#endif
