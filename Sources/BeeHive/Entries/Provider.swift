internal import BinaryImage
internal import Registration

/// What makes an entry's module or service, once something can.
enum Provider: Sendable {
  /// A Swift accessor: a C function that makes the type it was compiled for and refuses others.
  case accessor(Accessor)
  /// A structure that a C author wrote; read when the image is held, at first use.
  case structure(CStructure, RuntimeAddress)
  /// A type that the entry names, and the one that it serves as, where that is known.
  case injectable(any Injectable.Type, serving: ObjectIdentifier?)
  /// A module type that the entry names.
  case module(any Module.Type)
  /// What the host gave: makes a value of the type whose key it carries.
  case closure(FactoryClosure)
}

/// A Swift accessor of a typed record.
struct Accessor: Hashable, Sendable {
  var function: RuntimeAddress
  var context: RuntimeAddress?
  /// The type it makes, where it says so.
  var service: ObjectIdentifier?
  /// Whether the record calls the service by none of that type's names: a typealias, a composition.
  var hasOtherName = false
}

/// What the host gave to make something with.
struct FactoryClosure: Sendable {
  /// Makes a service asynchronously.
  typealias Loading = @Sendable (Hive) async throws -> any Sendable

  /// The type it makes.
  let service: ObjectIdentifier
  /// The same, to ask what it conforms to; of a given instance, its own type.
  private(set) var serviceType: any Any.Type
  /// The value that it has to be given, and whether one can be that; nil where it needs nothing.
  private(set) var parameter: (type: TypeSpelling, accepts: @Sendable (any Sendable) -> Bool)?
  /// Makes one: a `Service`, whatever its static type; nil where the parameter is of another type.
  let make: @Sendable (Hive, (any Sendable)?) throws -> (any Sendable)?
  /// The same with its type, where it needs no parameter: a `TypedFactory`.
  private var typed: (any Sendable)?
  /// Makes one asynchronously; nil where `make` does so at once.
  private(set) var load: Loading?
  /// Whether it answers with an instance that the host made.
  private(set) var isGiven = false
  /// Which call of `Hive.bind` gave it; nil where no such call did.
  var binding: Int?
  /// What it serves as for an entry that such a call has bound, where that is known.
  var serving: ObjectIdentifier?

  private struct TypedFactory<Service: Sendable>: Sendable {
    let make: @Sendable (Hive) throws -> Service
  }

  /// Makes one without a cast; nil where it makes another type.
  func typed<Service: Sendable>(as type: Service.Type) -> (@Sendable (Hive) throws -> Service)? {
    (typed as? TypedFactory<Service>)?.make
  }

  private init<Service: Sendable>(
    _ type: Service.Type, _ make: @escaping @Sendable (Hive, (any Sendable)?) throws -> Service?
  ) {
    service = ObjectIdentifier(type as Any.Type)
    serviceType = type
    self.make = { hive, parameter in try make(hive, parameter) }
  }

  init<Service: Sendable>(_ make: @escaping @Sendable (Hive) throws -> Service) {
    self.init(Service.self) { hive, _ in try make(hive) }
    typed = TypedFactory(make: make)
  }

  init<Service: Sendable>(instance: Service) {
    self.init(Service.self) { _, _ in instance }
    isGiven = true
    serviceType = Swift.type(of: instance as Any)
  }

  init<Service: Sendable, Parameter: Sendable>(
    _ make: @escaping @Sendable (Hive, Parameter) throws -> Service
  ) {
    self.init(Service.self) { hive, parameter in
      try (parameter as? Parameter).map { try make(hive, $0) }
    }
    parameter = (TypeSpelling.of(Parameter.self), { $0 is Parameter })
  }

  init<Service: Sendable>(loading load: @escaping @Sendable (Hive) async throws -> Service) {
    self.init(Service.self) { _, _ in nil }
    self.load = load
  }
}
