/// A group of actions that others call by name, without importing it.
///
/// `@Target` writes the conformance and the record; by hand, `mediator.register("shop") { ShopTarget() }`:
///
///     struct ShopTarget: Target {
///       static let actions = [
///         Action<ShopTarget>("price", [Parameter("sku", String.self)]) { try $0.price(sku: $1["sku"]) }
///       ]
///
///       func price(sku: String) -> Int { 7 }
///     }
public protocol Target: Sendable {
  /// What can be called.
  static var actions: [Action<Self>] { get }

  /// Answers calls of actions that the target does not have; nil to leave them to the mediator.
  static var fallback: (@Sendable (Self, Call) async throws -> any Sendable)? { get }

  /// The version of this protocol that a type was compiled against. Types leave it to its default.
  static var _contract: Void { get }
}

extension Target {
  /// None: the mediator's own fallbacks are asked.
  public static var fallback: (@Sendable (Self, Call) async throws -> any Sendable)? { nil }
}

/// One thing that a target does.
public struct Action<Owner: Sendable>: Sendable {
  /// Its name, parameters and result.
  package let declaration: ActionDeclaration
  let parameters: [Parameter]
  let perform: @Sendable (Owner, Arguments) async throws -> any Sendable
}

extension Action {
  /// Describes an action.
  ///
  /// `Action("price", [Parameter("sku", String.self)]) { try await $0.price(sku: $1["sku"]) }`
  ///
  /// - Parameters:
  ///   - name: The name by which it is called.
  ///   - parameters: In the order of the declaration.
  ///   - exposure: Whether calls from outside reach it.
  ///   - perform: Answers a call, with no lock held. It finds its arguments by name, each of the declared
  ///     type.
  public init<Value: Sendable>(
    _ name: String, _ parameters: [Parameter] = [], exposure: Exposure = .local,
    _ perform: @escaping @Sendable (Owner, Arguments) async throws -> Value
  ) {
    let declaration = ActionDeclaration(
      name: name, parameters: parameters.map(\.declaration), exposure: exposure, isAsync: true,
      canThrow: true, result: Value.self == Void.self ? "" : "\(Value.self)")
    self.init(declaration: declaration, parameters: parameters, perform: perform)
  }
}

/// A target whatever its type: what records and registrations hand over.
public struct TargetDefinition: Sendable {
  /// The name by which it is called.
  package let name: String
  let actions: [String: Action<any Sendable>]
  /// Names of actions that are declared more than once.
  let repeated: [String]
  let fallback: (@Sendable (any Sendable, Call) async throws -> any Sendable)?
  let make: @Sendable () throws -> any Sendable

  /// The declarations of its actions, in the order of their names.
  var declarations: [ActionDeclaration] {
    actions.values.map(\.declaration).sorted { $0.name < $1.name }
  }

  /// Describes a target; its instance is made at the first call.
  ///
  /// - Parameters:
  ///   - name: The name by which it is called.
  ///   - make: Makes the instance, with no lock held.
  public init<Owner: Target>(_ name: String, _ make: @escaping @Sendable () throws -> Owner) {
    let actions: [Action<any Sendable>] = Owner.actions.map { action in
      Action(declaration: action.declaration, parameters: action.parameters) { target, arguments in
        try await action.perform(try Self.cast(target), arguments)
      }
    }
    var fallback: (@Sendable (any Sendable, Call) async throws -> any Sendable)?
    if let own = Owner.fallback {
      fallback = { target, call in try await own(try Self.cast(target), call) }
    }
    self.init(name, actions, fallback: fallback) { try make() }
  }

  init(
    _ name: String, _ actions: [Action<any Sendable>],
    fallback: (@Sendable (any Sendable, Call) async throws -> any Sendable)? = nil,
    make: @escaping @Sendable () throws -> any Sendable
  ) {
    self.name = name
    self.actions = Dictionary(
      actions.map { ($0.declaration.name, $0) }, uniquingKeysWith: { first, _ in first })
    var seen: Set<String> = []
    repeated = actions.map(\.declaration.name).filter { !seen.insert($0).inserted }
    self.fallback = fallback
    self.make = make
  }

  private static func cast<Owner: Target>(
    _ instance: any Sendable
  ) throws(RoutingError) -> Owner {
    if let owner = instance as? Owner { return owner }
    throw RoutingError(.failed, "the target's instance is no \(Owner.self)")
  }
}

/// A parameter of an action: its name, its type, and its default.
public struct Parameter: Sendable {
  /// What tools and the catalogue show.
  package let declaration: ActionDeclaration.Parameter
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
    self.init(name, type, missing: nil)
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
    self.init(name, type, missing: missing)
  }

  private init<Value: Sendable>(_ name: String, _ type: Value.Type, missing: Value?) {
    // `Optional<Int>` is an Int that may be missing.
    let (written, optional) = ("\(type)", "Optional<")
    let isOptional = written.hasPrefix(optional)
    declaration = ActionDeclaration.Parameter(
      name: name,
      type: isOptional ? String(written.dropFirst(optional.count).dropLast()) : written,
      isOptional: isOptional,
      default: missing.map { ($0 as? any URLConvertible)?.urlText ?? "\($0)" })
    isURLConvertible = type is any URLConvertible.Type
    value = { arguments throws(RoutingError) in
      if let missing, arguments.values[name] == nil { return missing }
      return try arguments.value(name, as: type)
    }
  }
}

extension ActionDeclaration {
  /// Reads the text of a declaration.
  ///
  /// - Parameter text: The declaration: `remote price(sku: String) async throws -> Price`.
  /// - Throws: `RoutingError` with `badPattern` if it cannot be read; the message says where and why.
  package init(parsing text: String) throws(RoutingError) {
    do throws(Refusal) { try self.init(reading: text) } catch {
      throw RoutingError(.badPattern, error.message)
    }
  }
}
