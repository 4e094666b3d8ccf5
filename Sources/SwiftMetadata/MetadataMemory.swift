/// Where the compiler's tables are read: this process, or a file that nothing has loaded.
///
/// Pointers in the tables are relative to their own field, so that most need no relocation; one that leads to
/// another image goes through a slot that the loader fills.
package protocol MetadataMemory {
  /// Why something cannot be read; `Never` where nothing is checked.
  associatedtype Failure: Error
  /// How something is called that another image defines; `Never` where all are loaded.
  associatedtype Import

  /// The 32 bits at an address, which may be odd.
  func word(at address: UInt64) throws(Failure) -> UInt32
  /// The 16 bits at an address.
  func halfWord(at address: UInt64) throws(Failure) -> UInt16
  /// The byte at an address.
  func byte(at address: UInt64) throws(Failure) -> UInt8
  /// Where the pointer in a slot leads; nil for null, or where no pointer can be.
  func pointer(at address: UInt64) throws(Failure) -> MetadataReference<Import>?
  /// The NUL-terminated text at an address.
  func text(at address: UInt64) throws(Failure) -> String
  /// The names from the module to what another image defines; nil where its name does not tell.
  func path(of imported: Import) -> [String]?
  /// An address as wide as the image's.
  func wrapped(_ address: UInt64) -> UInt64
}

/// Where a pointer of the compiler's tables leads.
package enum MetadataReference<Import> {
  /// To this address of the image, or of the process.
  case address(UInt64)
  /// To what another image defines.
  case imported(Import)

  /// The address; nil of what another image defines.
  package var address: UInt64? {
    if case .address(let address) = self { address } else { nil }
  }
}

extension MetadataReference: Equatable where Import: Equatable {}
extension MetadataReference: Sendable where Import: Sendable {}

extension MetadataMemory {
  /// Where the relative pointer in a field leads; nil for a null one.
  ///
  /// `indirectIf` is the bit that makes it lead to a slot instead.
  func reference(
    at field: UInt64, indirectIf bit: UInt32 = 0
  ) throws(Failure) -> MetadataReference<Import>? {
    let word = try word(at: field)
    guard let target = target(of: word & ~bit, in: field) else { return nil }
    return word & bit == 0 ? .address(target) : try pointer(at: target)
  }

  /// Where a relative pointer leads that no bit makes indirect; nil for a null one.
  func target(at field: UInt64) throws(Failure) -> UInt64? {
    target(of: try word(at: field), in: field)
  }

  private func target(of distance: UInt32, in field: UInt64) -> UInt64? {
    guard distance != 0 else { return nil }
    return wrapped(field &+ UInt64(bitPattern: Int64(Int32(bitPattern: distance))))
  }
}
