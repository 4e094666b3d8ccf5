internal import CSwiftRuntime
internal import SwiftMetadata

/// The answer whether instances of a type can serve as a service type.
///
/// Needs no instance and makes none. The service is a protocol, a composition of protocols, a class or any other type.
/// Conforming types serve, subclasses serve, and any other type only serves as itself.
enum Conformance: Hashable, Sendable {
  /// Every instance serves.
  case holds
  /// No instance serves; one sentence says what is missing.
  case fails(String)
  /// The types alone do not tell, or cannot be read; one sentence gives the reason.
  case undecided(String)

  /// Returns whether `type` conforms to `service`, for instance `(any Greeter).self`.
  static func of(_ type: any Any.Type, to service: any Any.Type) -> Self {
    if ObjectIdentifier(type) == ObjectIdentifier(service) {
      return ExistentialLayout(of: type) == nil
        ? .holds : .fails("\(name(type)) is a protocol, which nothing can make an instance of")
    }
    if ExistentialLayout.isConstrained(service) {
      return .undecided("\(name(service)) constrains associated types; only an instance shows it")
    }
    guard ExistentialLayout.isExistential(service) else { return ofConcrete(type, to: service) }
    if ExistentialLayout.isProtocol(type) {
      return .fails(
        name(type) == name(service)
          ? "it makes another type of the name \(name(type))"
          : "\(name(type)) is a protocol, which does not conform to one")
    }
    guard let layout = ExistentialLayout(of: service) else {
      return .undecided("the metadata of \(name(service)) cannot be read")
    }
    return of(type, to: layout)
  }

  private static func of(_ type: any Any.Type, to layout: ExistentialLayout) -> Self {
    if layout.isClassBound, !(type is any AnyObject.Type) {
      return .fails("\(name(type)) is no class")
    }
    if let superclass = layout.superclass, !isSubclass(type, of: superclass) {
      return .fails("\(name(type)) is no subclass of \(name(superclass))")
    }
    // The first failure is the answer, even if others are undecided.
    var answer = Self.holds
    for descriptor in layout.protocols {
      let one = of(type, to: descriptor)
      if case .fails = one { return one }
      if one != .holds { answer = one }
    }
    return answer
  }

  private static func of(_ type: any Any.Type, to descriptor: ContextDescriptor) -> Self {
    let asked = descriptor.path?.joined(separator: ".") ?? descriptor.name ?? "a nameless protocol"
    var actor: UnsafeRawPointer?
    // Sound: both addresses are those of living metadata; the runtime stores into `actor` only.
    let conformance = unsafe beehive_swift_conformance_of(
      UnsafeRawPointer(bitPattern: UInt(bitPattern: ObjectIdentifier(type))),
      UnsafeRawPointer(bitPattern: descriptor.address), &actor)
    switch conformance {
    case beehive_swift_conforms: return .holds
    case beehive_swift_conforms_isolated:
      let place = unsafe actor.map { name(unsafe ProcessMemory().type($0)) } ?? "an actor"
      return .undecided("\(name(type)) conforms to \(asked) on \(place) only")
    case beehive_swift_conforms_not: return .fails("\(name(type)) does not conform to \(asked)")
    default: return .undecided("the Swift runtime of this process does not tell conformances")
    }
  }

  private static func ofConcrete(_ type: any Any.Type, to service: any Any.Type) -> Self {
    if isSubclass(type, of: service) { return .holds }
    return service is any AnyObject.Type
      ? .fails("\(name(type)) is no subclass of \(name(service))")
      : .fails("\(name(type)) is not \(name(service)), which only itself can serve")
  }

  private static func isSubclass(_ type: any Any.Type, of superclass: any Any.Type) -> Bool {
    func check<Superclass>(_: Superclass.Type) -> Bool { type is Superclass.Type }
    return check(superclass)
  }

  private static func name(_ type: any Any.Type) -> String { TypeSpelling.of(type).qualified }
}

/// The requirements of `any P`, `any A & B` or `any Base & P` on a type, read from the existential's metadata.
struct ExistentialLayout: Sendable {
  /// Whether only classes fit.
  let isClassBound: Bool
  /// The required superclass.
  let superclass: (any Any.Type)?
  /// The required protocols. Marker protocols such as `Sendable` leave no trace.
  let protocols: [ContextDescriptor]

  /// Returns whether a type is of protocols, constrained or not.
  static func isProtocol(_ type: any Any.Type) -> Bool {
    isExistential(type) || isConstrained(type)
  }

  /// Returns whether a type is of protocols, and perhaps of a class.
  static func isExistential(_ type: any Any.Type) -> Bool { kind(of: type) == 0x303 }

  /// Returns whether a type is of protocols with given associated types, such as `any Feed<Int>`.
  static func isConstrained(_ type: any Any.Type) -> Bool { kind(of: type) == 0x307 }

  private static func kind(of type: any Any.Type) -> UInt32 {
    ProcessMemory().word(at: UInt64(address(of: type)))
  }

  /// Reads the layout of an existential type without constraints; nil for any other type.
  ///
  /// Its metadata is: kind, flags (32 bits), number of protocols (32 bits), the superclass if bit 30 of the flags is
  /// set, then the protocols' descriptors; bit 31 means "not only classes".
  init?(of type: any Any.Type) {
    guard Self.isExistential(type) else { return nil }
    let word = UInt(MemoryLayout<UInt>.size)
    let start = Self.address(of: type) + word
    let memory = ProcessMemory()
    let flags = memory.word(at: UInt64(start))
    let count = UInt(memory.word(at: UInt64(start + 4)))
    let hasSuperclass = flags & 0x4000_0000 != 0
    isClassBound = flags & 0x8000_0000 == 0
    let superclass = hasSuperclass ? memory.address(at: start + 8) : nil
    self.superclass =
      unsafe superclass
      .flatMap { unsafe UnsafeRawPointer(bitPattern: $0) }
      .map { unsafe memory.type($0) }
    let first = start + 8 + (hasSuperclass ? word : 0)
    let protocols = (0..<count).map { memory.address(at: first + $0 * word) }
    self.protocols = protocols.compactMap { ContextDescriptor(at: $0) }
    guard self.protocols.count == protocols.count else { return nil }
  }

  private static func address(of type: any Any.Type) -> UInt {
    // The identity of a type is the address of its metadata.
    UInt(bitPattern: ObjectIdentifier(type))
  }
}
