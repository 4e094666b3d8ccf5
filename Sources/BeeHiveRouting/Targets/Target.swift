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
  /// The actions that can be called.
  static var actions: [Action<Self>] { get }

  /// Answers calls of actions that the target does not have; nil to leave them to the mediator.
  static var fallback: (@Sendable (Self, Call) async throws -> any Sendable)? { get }

  /// The version of this protocol that a type was compiled against. Types leave it to its default.
  static var _contract: Void { get }
}

extension Target {
  /// No fallback: those of the mediator answer.
  public static var fallback: (@Sendable (Self, Call) async throws -> any Sendable)? { nil }
}

/// One action of a target.
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
  ///   - name: The name that callers use.
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

/// A target of any type, as records and registrations hand it over.
public struct TargetDefinition: Sendable {
  /// The name that callers use.
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
  ///   - name: The name that callers use.
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

  private static func cast<Owner: Target>(_ instance: any Sendable) throws(RoutingError) -> Owner {
    if let owner = instance as? Owner { return owner }
    throw RoutingError(.failed, "the target's instance is no \(Owner.self)")
  }
}

/// A parameter of an action: its name, its type, and its default.
public struct Parameter: Sendable {
  /// The declaration that tools and the catalogue show.
  package let declaration: ActionDeclaration.Parameter
  /// Whether a text of a URL can become its value.
  var isURLConvertible = true
  /// The value of a missing argument; nil if there is none.
  let missing: Arguments.Argument?
  /// Makes a value of the declared type from an argument; nil for no value, if none is needed.
  let convert: @Sendable (Arguments.Argument) throws(RoutingError) -> Arguments.Argument?
}

extension Parameter {
  /// Describes a parameter that has to be given, unless its type is optional.
  ///
  /// - Parameters:
  ///   - name: The name of the argument.
  ///   - type: The type of its value.
  public init<Value: Sendable>(_ name: String, _ type: Value.Type) {
    self.init(name, type, missing: nil)
  }

  /// Describes a parameter whose value a URL can give.
  ///
  /// `@Target` writes this for actions that answer calls from outside, so that another type does not compile.
  ///
  /// - Parameters:
  ///   - name: The name of the argument.
  ///   - type: The type of its value.
  public init<Value: URLConvertible>(url name: String, _ type: Value.Type) {
    self.init(name, type)
  }

  /// Describes a parameter with a default.
  ///
  /// - Parameters:
  ///   - name: The name of the argument.
  ///   - type: The type of its value.
  ///   - missing: The value if the argument is missing.
  public init<Value: Sendable>(
    _ name: String, _ type: Value.Type = Value.self, default missing: Value
  ) {
    self.init(name, type, missing: missing)
  }

  private init<Value: Sendable>(_ name: String, _ type: Value.Type, missing: Value?) {
    // `Optional<Int>` is an Int that may be missing.
    let wrapped = (type as? any OptionalType.Type)?.wrapped
    declaration = ActionDeclaration.Parameter(
      name: name, type: "\(wrapped ?? type)", isOptional: wrapped != nil,
      default: missing.map { ($0 as? any URLConvertible)?.urlText ?? "\($0)" })
    isURLConvertible = type is any URLConvertible.Type
    self.missing = missing.map { .value($0) }
    convert = { argument throws(RoutingError) in
      .value(try Arguments.convert(argument, key: name, to: type))
    }
  }

  /// A parameter of a type that URLs hold.
  init<Value: URLConvertible>(_ key: PatternKey, as type: Value.Type) {
    let missing = key.default.flatMap(Value.init(urlText:))
    declaration = key
    self.missing = missing.map { .value($0) }
    convert = { argument throws(RoutingError) in
      // With a default, the receiver need not ask for an optional.
      key.isOptional && missing == nil
        ? .value(try Arguments.convert(argument, key: key.name, to: Value?.self))
        : .value(try Arguments.convert(argument, key: key.name, to: type))
    }
  }
}

extension [Parameter] {
  /// Converts given arguments to their declared types and fills in defaults. Messages call the declaring action or
  /// pattern `name`.
  func convert(_ arguments: inout Arguments, of name: String) throws(RoutingError) {
    for parameter in self {
      let key = parameter.declaration.name
      guard let given = arguments.values[key] else {
        try RoutingError.check(
          parameter.missing != nil || parameter.declaration.isOptional, .missingParameter,
          "\(name): the parameter \(key), of type \(parameter.declaration.type), is missing; give it",
          key: key)
        arguments.values[key] = parameter.missing
        continue
      }
      do throws(RoutingError) { arguments.values[key] = try parameter.convert(given) } catch {
        throw RoutingError(error.code, "\(name): \(error.message)", key: key)
      }
    }
  }
}

/// An optional, whatever it wraps.
private protocol OptionalType { static var wrapped: Any.Type { get } }

extension Optional: OptionalType { static var wrapped: Any.Type { Wrapped.self } }

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

// As in BeeHive's Module.swift: each library of contracts has a version of its own name.

@inline(never) @usableFromInline func beehiveContract_0_1() {}

extension Target {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}
