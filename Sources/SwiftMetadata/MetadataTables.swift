/// The lists of an image: of its types, its protocols, and its conformances.
extension MetadataReader {
  /// Passes over the descriptors of the types in a list that this image describes, in their order.
  func forEachType(
    in list: Range<UInt64>, _ body: (UInt64) throws(Memory.Failure) -> Void
  ) throws(Memory.Failure) {
    // The second bit of a record marks a class of Objective-C, which has no descriptor.
    for field in stride(from: list.lowerBound, to: list.upperBound, by: 4)
    where try memory.word(at: field) & 2 == 0 {
      let descriptor = try memory.reference(at: field, indirectIf: 1)?.address
      if let descriptor, descriptor % 4 == 0 { try body(descriptor) }
    }
  }

  /// Passes over the descriptors of the protocols in a list, in their order.
  func forEachProtocol(
    in list: Range<UInt64>, _ body: (UInt64) throws(Memory.Failure) -> Void
  ) throws(Memory.Failure) {
    for field in stride(from: list.lowerBound, to: list.upperBound, by: 4) {
      let descriptor = try memory.reference(at: field, indirectIf: 1)?.address
      if let descriptor, descriptor % 4 == 0, try flags(of: descriptor).kind == .protocol {
        try body(descriptor)
      }
    }
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
