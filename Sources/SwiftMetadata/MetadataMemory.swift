package import BinaryImage

/// The memory that holds the compiler's tables: this process, or a file that nothing has loaded.
///
/// Pointers in the tables are relative to their own field, so most need no relocation. A pointer to another image goes
/// through a slot that the loader fills.
package protocol MetadataMemory {
  /// The error of a failed read; `Never` if nothing is checked.
  associatedtype Failure: Error
  /// The name of what another image defines; `Never` if all images are loaded.
  associatedtype Import

  /// The bytes of a pointer.
  var pointerSize: Int { get }
  /// Returns the number in 1, 2 or 4 bytes at an address, which may be odd.
  func number(at address: UInt64, size: Int) throws(Failure) -> UInt64
  /// Returns the target of the pointer in a slot; nil for null, or if no pointer can be there.
  func pointer(at address: UInt64) throws(Failure) -> MetadataReference<Import>?
  /// Returns the NUL-terminated text at an address.
  func text(at address: UInt64) throws(Failure) -> String
  /// Returns the names from the module to what another image defines; nil if its name does not tell.
  func path(of imported: Import) -> [String]?
  /// Returns an address as wide as the image's.
  func wrapped(_ address: UInt64) -> UInt64
}

/// The target of a pointer in the compiler's tables.
package enum MetadataReference<Import> {
  /// To this address of the image, or of the process.
  case address(UInt64)
  /// To a declaration of another image.
  case imported(Import)

  /// The address; nil for what another image defines.
  package var address: UInt64? {
    if case .address(let address) = self { address } else { nil }
  }
}

extension MetadataReference: Sendable where Import: Sendable {}

extension MetadataMemory {
  /// Returns the 32 bits at an address.
  package func word(at address: UInt64) throws(Failure) -> UInt32 {
    UInt32(truncatingIfNeeded: try number(at: address, size: 4))
  }

  /// Returns the target of the relative pointer in a field; nil for a null pointer.
  ///
  /// `indirectIf` is the bit that makes the pointer lead to a slot instead.
  func reference(
    at field: UInt64, indirectIf bit: UInt32 = 0
  ) throws(Failure) -> MetadataReference<Import>? {
    let word = try word(at: field)
    guard let target = target(of: word & ~bit, in: field) else { return nil }
    return word & bit == 0 ? .address(target) : try pointer(at: target)
  }

  /// Returns the target of a relative pointer that no bit makes indirect; nil for a null pointer.
  func target(at field: UInt64) throws(Failure) -> UInt64? {
    target(of: try word(at: field), in: field)
  }

  private func target(of distance: UInt32, in field: UInt64) -> UInt64? {
    guard distance != 0 else { return nil }
    return wrapped(field &+ UInt64(bitPattern: Int64(Int32(bitPattern: distance))))
  }
}

/// The compiler's tables in a file that is not loaded; every read is checked.
///
/// Gives up a file that leads its reader on without end. Use one value on one thread.
package final class FileMemory: MetadataMemory {
  /// The file.
  package let image: any FileImage
  private let sections: [Section]
  /// The bytes that may still be read: tables may lead to the same bytes again and again.
  private var budget: Int

  /// More bytes than any name has.
  private static let mostText = 1 << 12

  package var pointerSize: Int { image.pointerSize }

  /// Throws if nothing can be found by name or by address: without a section table, and in objects, whose tables wait
  /// for a linker.
  package init(of image: any FileImage) throws(ImageError) {
    self.image = image
    budget = Int(clamping: min(image.part.size, 1 << 26)) * 8
    sections = try image.allSections().filter { $0.address.rawValue != 0 && $0.offset != nil }
      .sorted { $0.address.rawValue < $1.address.rawValue }
  }

  /// Returns some bytes as a number.
  package func number(at address: UInt64, size: Int) throws(ImageError) -> UInt64 {
    try spend(size)
    let bytes = try image.bytes(at: VirtualAddress(rawValue: address), count: size)
    return image.identity.byteOrder.number(of: bytes[...])
  }

  /// Returns the target that the loader will write to a slot; the symbol if another image defines it.
  package func pointer(at address: UInt64) throws(ImageError) -> MetadataReference<String>? {
    try spend(image.pointerSize)
    let section = sections.last(notAfter: address, by: \.address.rawValue).map { sections[$0] }
    guard let section, address - section.address.rawValue < section.size else {
      throw error("A slot at \(address.hexadecimal) is in no section.")
    }
    switch try image.pointer(at: address - section.address.rawValue, in: section).target {
    case .null: return nil
    case .address(let address): return .address(address.rawValue)
    case .imported(let symbol, let addend):
      try spend(symbol.utf8.count)
      let isDecorated = image.identity.format == .macho && symbol.hasPrefix("_$")
      return .imported(
        PointerValue.name(
          ofImport: isDecorated ? String(symbol.dropFirst()) : symbol, addend: addend))
    case .section, .foreign: throw error("A slot at \(address.hexadecimal) leads to no address.")
    case .unresolvable(let reason):
      throw error("A slot at \(address.hexadecimal) leads to no address: \(reason).")
    }
  }

  package func text(at address: UInt64) throws(ImageError) -> String {
    let place = PointerValue.Target.address(VirtualAddress(rawValue: address))
    let text = try image.withText(at: place, limit: Self.mostText) { String(decoding: $0) }
    try spend(text.utf8.count)
    return text
  }

  package func path(of imported: String) -> [String]? { SymbolName(imported)?.path }

  package func wrapped(_ address: UInt64) -> UInt64 {
    image.identity.bits == 32 ? address & 0xffff_ffff : address
  }

  private func spend(_ bytes: Int) throws(ImageError) {
    budget -= bytes
    try image.file.check(
      budget >= 0, .malformed, "Its Swift metadata leads to the same bytes again and again.")
  }

  func error(_ message: String) -> ImageError {
    ImageError(.malformed, image: image.identity.path, message: message)
  }
}
