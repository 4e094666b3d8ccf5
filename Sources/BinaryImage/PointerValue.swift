/// A pointer stored in an image: the bytes that are there and what they mean.
///
/// In a file the bytes alone mean nothing: lld leaves zero where the loader will write an address,
/// so the relocation that covers the slot decides. In memory the loader has already written it.
package struct PointerValue: Hashable, Codable, Sendable {
  /// Where a pointer leads.
  package enum Target: Hashable, Codable, Sendable {
    /// Nowhere: a null pointer.
    case null
    /// To a linked address of the same image.
    case address(VirtualAddress)
    /// Into a section of the same relocatable object, `offset` bytes from its start.
    case section(index: Int, offset: UInt64)
    /// To a symbol that another image defines, or so many bytes behind it; unknown until the image is loaded.
    case imported(symbol: String, addend: Int64 = 0)
    /// To code or data outside the image, at a runtime address: only in loaded images.
    case foreign(RuntimeAddress)
    /// This image alone does not tell; the text says why.
    case unresolvable(String)
  }

  /// How the target was found; `rawValue` is what `section-dump` prints.
  package enum Resolution: String, Hashable, Codable, Sendable {
    /// A relocation with an explicit addend and no symbol, `R_*_RELATIVE` in `DT_RELA`.
    case relative
    /// A word listed in `DT_RELR`; the addend is in place.
    case relr
    /// A relocation whose addend is in place, `DT_REL`.
    case rel
    /// A relocation against a named symbol.
    case symbol
    /// A relocation against a section of a relocatable object.
    case section
    /// No relocation: the bytes are the linked address, as in `ET_EXEC`.
    case absolute
    /// A Mach-O rebase from `LC_DYLD_INFO`.
    case rebase
    /// A Mach-O rebase from `LC_DYLD_CHAINED_FIXUPS`.
    case chainedRebase = "chained-rebase"
    /// The loader has written the final address: only in loaded images.
    case loaded
    /// Not a pointer, and not null: a word without a relocation, where pointers have one.
    case number
    /// Not a pointer that anything resolves: null, or a relocation that writes no address.
    case none
  }

  /// `environ`, `environ+0x8`: what an import is called.
  package static func name(ofImport symbol: String, addend: Int64) -> String {
    guard addend != 0 else { return symbol }
    return "\(symbol)\(addend < 0 ? "-" : "+")\(UInt64(addend.magnitude).hexadecimal)"
  }

  /// The bytes as they are, in the host's byte order; in memory, the runtime address itself.
  package var rawValue: UInt64
  /// Where it leads.
  package var target: Target
  /// How that was found.
  package var resolution: Resolution
  /// The symbol that the relocation names, if it names one.
  package var symbol: String?

  /// Describes a pointer.
  package init(rawValue: UInt64, target: Target, resolution: Resolution, symbol: String? = nil) {
    self.rawValue = rawValue
    self.target = target
    self.resolution = resolution
    self.symbol = symbol
  }
}
