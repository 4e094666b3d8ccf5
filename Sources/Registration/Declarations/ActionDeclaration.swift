/// The name, the parameters and the result of an action, as a text that a record carries.
///
/// `remote price(sku: String, currency: Currency = euro, note: String?) async throws -> Price`: the word
/// `remote` or `elevated` puts it on the allow-list; an optional type or a default makes a parameter
/// optional.
package struct ActionDeclaration: Hashable, Sendable, CustomStringConvertible {
  /// One parameter; of a route's pattern too.
  package struct Parameter: Encodable, Hashable, Sendable {
    /// The name of the argument.
    package var name: String
    /// The name of its type, without `?`.
    package var type: String
    /// Whether its type is optional.
    package var isOptional: Bool
    /// The value of a missing argument, as a text.
    package var `default`: String?

    /// Describes a parameter.
    ///
    /// - Parameters:
    ///   - name: The name of the argument.
    ///   - type: The name of its type, without `?`.
    ///   - isOptional: Whether its type is optional.
    ///   - default: The value of a missing argument, as a text; nil for no default.
    package init(name: String, type: String, isOptional: Bool = false, default: String? = nil) {
      (self.name, self.type) = (name, type)
      (self.isOptional, self.default) = (isOptional, `default`)
    }
  }

  /// The action's name.
  package var name: String
  /// The parameters, in the order of the declaration.
  package var parameters: [Parameter]
  /// The callers that it answers.
  package var exposure: Exposure
  /// Whether it waits.
  package var isAsync: Bool
  /// Whether it throws.
  package var canThrow: Bool
  /// The name of the type that it returns; empty for none.
  package var result: String

  /// Describes an action.
  ///
  /// - Parameters:
  ///   - name: The name that callers use.
  ///   - parameters: In the order of the declaration.
  ///   - exposure: Whether calls from outside reach it.
  ///   - isAsync: Whether it waits.
  ///   - canThrow: Whether it throws.
  ///   - result: The name of the type that it returns; empty for none.
  package init(
    name: String, parameters: [Parameter] = [], exposure: Exposure = .local, isAsync: Bool = false,
    canThrow: Bool = false, result: String = ""
  ) {
    (self.name, self.parameters, self.result) = (name, parameters, result)
    (self.exposure, self.isAsync, self.canThrow) = (exposure, isAsync, canThrow)
  }

  /// The text that `init(parsing:)` reads.
  package var description: String {
    var text = exposure.mark
    text += name + "(" + parameters.map(\.description).joined(separator: ", ") + ")"
    if isAsync { text += " async" }
    if canThrow { text += " throws" }
    if !result.isEmpty { text += " -> \(result)" }
    return text
  }
}

extension ActionDeclaration.Parameter: CustomStringConvertible {
  /// `currency: Currency = euro`
  package var description: String {
    "\(name): \(type)\(isOptional ? "?" : "")" + (`default`.map { " = \($0)" } ?? "")
  }
}

extension ActionDeclaration.Parameter {
  /// The default as C has it: without its quotes, if it has some.
  package var unquotedDefault: String? {
    guard let text = `default`, text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") else {
      return `default`
    }
    return String(text.dropFirst().dropLast())
  }
}
