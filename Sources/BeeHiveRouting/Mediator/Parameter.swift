/// A parameter of an action: its name, its type, and its default.
public struct Parameter: Sendable {
  /// What tools and the catalogue show.
  public let declaration: ActionDeclaration.Parameter
  /// Whether a text of a URL can become its value.
  let isURLConvertible: Bool
  /// The value of the declared type: the argument as it is or converted, else the default.
  let value: @Sendable (Arguments) throws(RoutingError) -> any Sendable

  /// Describes a parameter that has to be given, unless its type is optional.
  ///
  /// - Parameters:
  ///   - name: The name by which it is given.
  ///   - type: The type of its value.
  public init<Value: Sendable>(_ name: String, _ type: Value.Type) {
    declaration = Self.declare(name, type, nil)
    isURLConvertible = type is any URLConvertible.Type
    value = { arguments throws(RoutingError) in try arguments.value(name, as: type) }
  }

  /// Describes a parameter whose value a URL can give.
  ///
  /// `@Target` writes this for actions that answer calls from outside, so that another type does not compile.
  ///
  /// - Parameters:
  ///   - name: The name by which it is given.
  ///   - type: The type of its value.
  public init<Value: URLConvertible>(url name: String, _ type: Value.Type) {
    self.init(name, type)
  }

  /// Describes a parameter with a default.
  ///
  /// - Parameters:
  ///   - name: The name by which it is given.
  ///   - type: The type of its value.
  ///   - missing: The value where it is not given.
  public init<Value: Sendable>(
    _ name: String, _ type: Value.Type = Value.self, default missing: Value
  ) {
    declaration = Self.declare(
      name, type, (missing as? any URLConvertible)?.urlText ?? "\(missing)")
    isURLConvertible = type is any URLConvertible.Type
    value = { arguments throws(RoutingError) in
      arguments.values[name] == nil ? missing : try arguments.value(name, as: type)
    }
  }

  private static func declare<Value>(
    _ name: String, _ type: Value.Type, _ missing: String?
  ) -> ActionDeclaration.Parameter {
    let wrapped = (type as? any OptionalValue.Type)?.wrappedName
    return ActionDeclaration.Parameter(
      name: name, type: wrapped ?? "\(type)", isOptional: wrapped != nil, defaultText: missing)
  }
}
