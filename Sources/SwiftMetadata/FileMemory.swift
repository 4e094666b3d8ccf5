package import BinaryImage

/// The compiler's tables in a file that is not loaded; every read is checked.
///
/// A file that leads its reader on without end is given up. Use one value on one thread.
package final class FileMemory: MetadataMemory {
  /// The file.
  package let image: any FileImage
  private let sections: [Section]
  private var budget = FileMemory.mostBytes

  /// More bytes than the tables of any file take to read.
  private static let mostBytes = 1 << 26
  /// More than any name has.
  private static let mostText = 1 << 12

  /// Throws where nothing can be found by name or by address: without a section table, and in objects, whose
  /// tables wait for a linker.
  package init(of image: any FileImage) throws(ImageError) {
    self.image = image
    sections = try image.allSections().filter { $0.address.rawValue != 0 && $0.offset != nil }
      .sorted { $0.address.rawValue < $1.address.rawValue }
  }

  /// The 32 bits at an address.
  package func word(at address: UInt64) throws(ImageError) -> UInt32 {
    UInt32(truncatingIfNeeded: try number(at: address, size: 4))
  }

  /// The 16 bits at an address.
  package func halfWord(at address: UInt64) throws(ImageError) -> UInt16 {
    UInt16(truncatingIfNeeded: try number(at: address, size: 2))
  }

  /// The byte at an address.
  package func byte(at address: UInt64) throws(ImageError) -> UInt8 {
    UInt8(truncatingIfNeeded: try number(at: address, size: 1))
  }

  /// Some bytes as a number.
  private func number(at address: UInt64, size: Int) throws(ImageError) -> UInt64 {
    try spend(size)
    let bytes = try image.bytes(at: VirtualAddress(rawValue: address), count: size)
    return image.identity.byteOrder.number(of: bytes[...])
  }

  /// Where the loader will let a slot lead; the symbol of what another image defines.
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
    guard budget >= 0 else { throw error("Its Swift metadata leads on without end.") }
  }

  func error(_ message: String) -> ImageError {
    ImageError(.malformed, image: image.identity.path, message: message)
  }
}
