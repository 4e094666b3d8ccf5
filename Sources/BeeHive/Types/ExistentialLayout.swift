internal import SwiftMetadata

/// What `any P`, `any A & B` or `any Base & P` asks of a type, read from the existential's metadata.
struct ExistentialLayout: Sendable {
  /// Whether only classes fit.
  let isClassBound: Bool
  /// The class that must be inherited from.
  let superclass: (any Any.Type)?
  /// The protocols that must be conformed to. Marker protocols such as `Sendable` leave no trace.
  let protocols: [ContextDescriptor]

  /// How far a type is an existential one.
  enum Kind: Sendable {
    /// Protocols and perhaps a class.
    case existential
    /// Protocols with given associated types, such as `any Feed<Int>`.
    case constrainedExistential
    /// Not a protocol type.
    case other
  }

  /// Which kind of type it is.
  static func kind(of type: any Any.Type) -> Kind {
    switch ProcessMemory().word(at: UInt64(address(of: type))) {
    case 0x303: .existential
    case 0x307: .constrainedExistential
    default: .other
    }
  }

  /// The layout of an existential type without constraints; nil for any other type.
  ///
  /// Its metadata is: kind, flags (32 bits), number of protocols (32 bits), the superclass where
  /// bit 30 of the flags says so, then the protocols' descriptors; bit 31 means "not only classes".
  init?(of type: any Any.Type) {
    guard Self.kind(of: type) == .existential else { return nil }
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
