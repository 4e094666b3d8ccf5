/// The lists of an image: of its types, its protocols, and its conformances.
extension MetadataReader {
  /// The descriptor of the type that a record leads to; nil of what another image describes.
  func type(at record: UInt64) throws(Memory.Failure) -> UInt64? {
    // The second bit of a record marks a class of Objective-C, which has no descriptor.
    guard try memory.word(at: record) & 2 == 0 else { return nil }
    let descriptor = try memory.reference(at: record, indirectIf: 1)?.address
    return descriptor.flatMap { $0 % 4 == 0 ? $0 : nil }
  }

  /// The descriptor of the protocol that a record leads to; nil of what another image describes.
  func `protocol`(at record: UInt64) throws(Memory.Failure) -> UInt64? {
    guard let descriptor = try memory.reference(at: record, indirectIf: 1)?.address,
      descriptor % 4 == 0, try flags(of: descriptor).kind == .protocol
    else { return nil }
    return descriptor
  }

  /// Passes over the conformances in a list, in their order.
  func forEachConformance(
    in list: Range<UInt64>,
    _ body: (ProtocolConformance<Memory.Import>) throws(Memory.Failure) -> Void
  ) throws(Memory.Failure) {
    for field in stride(from: list.lowerBound, to: list.upperBound, by: 4) {
      guard let descriptor = try memory.target(at: field), descriptor % 4 == 0,
        let conformance = try conformance(at: descriptor)
      else { continue }
      try body(conformance)
    }
  }
}
