/// What a protocol asks of its conformers: one word of their witness tables.
///
/// Swift: `TargetProtocolRequirement`, `ProtocolRequirementFlags`.
package struct ProtocolRequirement: Hashable, Sendable {
  /// What is asked for.
  package enum Kind: UInt32, Sendable {
    case baseProtocol = 0
    case method, initialiser, getter, setter, readCoroutine, modifyCoroutine
    case associatedType, associatedConformance
  }

  /// Where its descriptor is: a symbol that ends in `Tq`, `Tl`, `Tb` or `Tn` leads there if the library is resilient.
  package let address: UInt64
  /// What is asked for; nil of what a later compiler invents.
  package let kind: Kind?
  /// Whether the protocol's library answers for a conformer that does not.
  package let hasDefault: Bool
}

extension MetadataReader {
  /// The requirements of a protocol, in the order of the words of its witness tables.
  ///
  /// Behind its context are: number of constraints, number of requirements, names of associated types; then the
  /// constraints, 12 bytes each, and the requirements: flags, and the default implementation.
  package func requirements(
    ofProtocol descriptor: UInt64
  ) throws(Memory.Failure) -> [ProtocolRequirement] {
    let constraints = UInt64(try memory.word(at: descriptor &+ 12))
    let count = UInt64(try memory.word(at: descriptor &+ 16))
    let first = descriptor &+ 24 &+ 12 &* constraints
    var requirements: [ProtocolRequirement] = []
    for index in 0..<count {
      let address = memory.wrapped(first &+ 8 &* index)
      let flags = try memory.word(at: address)
      requirements.append(
        ProtocolRequirement(
          address: address, kind: ProtocolRequirement.Kind(rawValue: flags & 0xf),
          hasDefault: try memory.word(at: address &+ 4) != 0))
    }
    return requirements
  }
}
