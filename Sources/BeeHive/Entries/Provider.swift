internal import CBeeHive

// Sound: an image that has registered stays mapped, so its addresses lead to functions and structures. Nothing can
// check the promise of a record's author that a function has this type.

/// The accessor, structure or closure that makes an entry's module or service.
enum Provider: Sendable {
  /// A Swift accessor: a C function that makes the type it was compiled for and refuses others.
  case accessor(Accessor)
  /// A structure that a C author wrote; read at first use.
  case structure(CStructure, RuntimeAddress)
  /// A type that the entry names, or what the host gave; a reference, because progress is copied often.
  indirect case closure(FactoryClosure)
}

/// A Swift accessor of a typed record.
struct Accessor: Hashable, Sendable {
  var function: RuntimeAddress
  var context: RuntimeAddress?
  /// The type it makes, if it says so.
  var service: ObjectIdentifier?
  /// Whether the record's name is none of that type's names: a typealias, a composition.
  var hasOtherName = false

  /// Makes a value of `Service`; nil if the accessor refuses that type.
  func make<Service>(as service: Service.Type) -> Service? {
    // The accessor compares against an `Any.Type` value and writes into uninitialised storage.
    unsafe withUnsafeTemporaryAllocation(of: Service.self, capacity: 1) { storage in
      let isMade = unsafe call(BEEHIVE_REQUEST_MAKE, expecting: service, storage.baseAddress)
      return isMade ? unsafe storage.moveElement(from: 0) : nil
    }
  }

  /// Returns the type that the accessor makes; nil if it does not say.
  func describe() -> Any.Type? {
    // An accessor that knows no requests compares the expected type, finds it strange and refuses.
    var described: Any.Type = Never.self
    let isDescribed = unsafe withUnsafeMutablePointer(to: &described) { described in
      unsafe call(BEEHIVE_REQUEST_DESCRIBE, expecting: Never.self, described)
    }
    return isDescribed && described != Never.self ? described : nil
  }

  private func call(
    _ request: Int32, expecting type: Any.Type, _ storage: UnsafeMutableRawPointer?
  ) -> Bool {
    guard let address = unsafe UnsafeRawPointer(bitPattern: function.rawValue) else { return false }
    let function = unsafe unsafeBitCast(address, to: beehive_accessor.self)
    let context = unsafe context.flatMap { unsafe UnsafeRawPointer(bitPattern: $0.rawValue) }
    return unsafe withUnsafePointer(to: type) { type in
      unsafe function(storage, type, context, UInt(request))
    }
  }
}

extension ForeignMemory {
  /// Returns the structure of C at an address, or the rule that it breaks.
  ///
  /// `Structure` is the `beehive_…` structure that `kind` names. Every bit pattern is a value of it. The extra bytes of
  /// a longer structure are ignored.
  package func structure<Structure>(
    _ kind: CStructure, as type: Structure.Type, at address: RuntimeAddress
  ) -> Result<Structure, Problem> {
    do throws(Refusal) { try kind.check(at: UInt64(address.rawValue), in: self) } catch {
      return .failure(Problem(error))
    }
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address.rawValue) else {
      preconditionFailure("the rules let no null pointer through")
    }
    return unsafe .success(pointer.load(as: Structure.self))
  }
}

/// A factory in Swift: the initialiser of a type that an entry names, or code of the host.
struct FactoryClosure: Sendable {
  /// Makes a service asynchronously.
  typealias Loading = @Sendable (Hive) async throws -> any Sendable

  /// The type it makes.
  let service: ObjectIdentifier
  /// The type to check conformances of; for a given instance, its own type.
  private(set) var serviceType: any Any.Type
  /// The type of the parameter, and a check whether a value has it; nil if it needs no parameter.
  private(set) var parameter: (type: TypeSpelling, accepts: @Sendable (any Sendable) -> Bool)?
  /// Makes an instance: a `Service`, whatever its static type; nil if the parameter is of another type.
  let make: @Sendable (Hive, (any Sendable)?) throws -> (any Sendable)?
  /// The same closure with its type, if it needs no parameter.
  private var typed: (any Sendable)?
  /// Makes an instance asynchronously; nil if `make` does so at once.
  private(set) var load: Loading?
  /// Whether it answers with an instance that the host made.
  private(set) var isGiven = false
  /// The number of the call of `Hive.bind` that gave it; nil if no such call did.
  var binding: Int?
  /// The type that it serves as, if that is known.
  var serving: ObjectIdentifier?

  /// Returns the closure that makes a `Service` without a cast; nil if it makes another type.
  func typed<Service: Sendable>(as type: Service.Type) -> (@Sendable (Hive) throws -> Service)? {
    typed as? @Sendable (Hive) throws -> Service
  }

  private init(
    _ type: any Any.Type,
    _ make: @escaping @Sendable (Hive, (any Sendable)?) throws -> (any Sendable)?
  ) {
    service = ObjectIdentifier(type)
    serving = service
    serviceType = type
    self.make = make
  }

  init<Service: Sendable>(_ make: @escaping @Sendable (Hive) throws -> Service) {
    self.init(Service.self) { hive, _ in try make(hive) }
    typed = make
  }

  init<Implementation: Injectable>(_ type: Implementation.Type, serving: ObjectIdentifier?) {
    self.init { hive in try type.init(hive: hive) }
    self.serving = serving
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
