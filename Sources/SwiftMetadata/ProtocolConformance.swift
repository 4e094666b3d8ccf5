/// The compiler's description of the conformance of a type to a protocol.
///
/// Swift: `TargetProtocolConformanceDescriptor`, `ConformanceFlags`.
package struct ProtocolConformance<Import> {
  /// The address of its descriptor.
  package let address: UInt64
  /// The protocol's descriptor.
  package let `protocol`: MetadataReference<Import>
  /// The type's descriptor; nil for a class of Objective-C, which has none.
  package let type: MetadataReference<Import>?
  /// The witness table, or the pattern that the runtime makes tables from; nil if there is none.
  package let table: UInt64?
  fileprivate let flags: UInt32

  /// Whether neither the type nor the protocol belongs to the image that has the conformance.
  package var isRetroactive: Bool { flags & 0x40 != 0 }
  /// Whether it holds only for some generic arguments.
  package var isConditional: Bool { flags >> 8 & 0xff != 0 }
  /// Whether the witnesses are listed by the requirements that they answer, and the runtime makes the table: the
  /// protocol was resilient when the conformance was compiled.
  package var isResilient: Bool { flags & 0x1_0000 != 0 }
  /// Whether the runtime makes a table for each type, from a pattern whose size is known.
  package var hasPattern: Bool { flags & 0x2_0000 != 0 }
  /// Whether it holds only on one global actor.
  package var isIsolated: Bool { flags & 0x8_0000 != 0 }
}

extension ProtocolConformance: Sendable where Import: Sendable {}

extension MetadataReader {
  /// Returns the conformance whose descriptor is at an address; nil if it names no protocol.
  ///
  /// Its fields are: protocol, type, witness table, flags.
  package func conformance(
    at address: UInt64
  ) throws(Memory.Failure) -> ProtocolConformance<Memory.Import>? {
    guard let named = try memory.reference(at: address, indirectIf: 1) else { return nil }
    let flags = try memory.word(at: address &+ 12)
    let type: MetadataReference<Memory.Import>?
    let target = try memory.target(at: address &+ 4)
    switch (flags >> 3 & 7, target) {
    case (0, let target?): type = .address(target)
    case (1, let slot?): type = try memory.pointer(at: slot)
    default: type = nil
    }
    return ProtocolConformance(
      address: address, protocol: named, type: type, table: try memory.target(at: address &+ 8),
      flags: flags)
  }

  /// Returns the requirements that resilient witnesses of a conformance answer; nil for one that leads nowhere. Also
  /// returns the words of a table, as the conformance was compiled; nil if the runtime makes no table.
  ///
  /// After the fields are, as the flags say: the module of a retroactive conformance; conditions, 12 bytes each; shapes
  /// of packs, 8 bytes each; the number of resilient witnesses and each with its requirement and its function; the
  /// words of the pattern and of what is private to tables, 16 bits each, and two pointers.
  package func witnesses(
    of conformance: ProtocolConformance<Memory.Import>
  ) throws(Memory.Failure) -> (
    requirements: [MetadataReference<Memory.Import>?], patternWords: Int?
  ) {
    var requirements: [MetadataReference<Memory.Import>?] = []
    var place = conformance.address &+ 16 &+ (conformance.isRetroactive ? 4 : 0)
    place = place &+ 12 &* UInt64(conformance.flags >> 8 & 0xff)
    place = place &+ 8 &* UInt64(conformance.flags >> 24)
    if conformance.isResilient {
      let count = UInt64(try memory.word(at: place))
      for index in 0..<count {
        let requirement = memory.wrapped(place &+ 4 &+ 8 &* index)
        requirements.append(try memory.reference(at: requirement, indirectIf: 1))
      }
      place = place &+ 4 &+ 8 &* count
    }
    guard conformance.hasPattern else { return (requirements, nil) }
    return (requirements, Int(try memory.number(at: memory.wrapped(place), size: 2)))
  }

  /// Returns the requirements of a protocol, in the order of the words of its witness tables: the addresses of their
  /// descriptors, and whether the protocol's library has a default for them. A type has none.
  ///
  /// In a resilient library a symbol that ends in `Tq`, `Tl`, `Tb` or `Tn` leads to a descriptor. After the context of
  /// the protocol are: number of constraints, number of requirements, names of associated types; then the constraints,
  /// 12 bytes each, and the requirements: flags, and the default implementation.
  ///
  /// Swift: `TargetProtocolRequirement`.
  package func requirements(
    ofProtocol descriptor: UInt64
  ) throws(Memory.Failure) -> [(address: UInt64, hasDefault: Bool)] {
    guard try flags(of: descriptor).kind == .protocol else { return [] }
    let constraints = UInt64(try memory.word(at: descriptor &+ 12))
    let count = UInt64(try memory.word(at: descriptor &+ 16))
    let first = descriptor &+ 24 &+ 12 &* constraints
    var requirements: [(address: UInt64, hasDefault: Bool)] = []
    for index in 0..<count {
      let address = memory.wrapped(first &+ 8 &* index)
      requirements.append((address, try memory.word(at: address &+ 4) != 0))
    }
    return requirements
  }
}
