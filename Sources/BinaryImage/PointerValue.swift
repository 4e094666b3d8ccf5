/// A pointer stored in an image: its bytes and their meaning.
///
/// In a file the bytes alone mean nothing: lld leaves zero where the loader will write an address,
/// so the relocation that covers the slot decides. In memory the loader has already written it.
package struct PointerValue: Hashable, Codable, Sendable {
  /// The target of a pointer.
  package enum Target: Hashable, Codable, Sendable {
    /// Nowhere: a null pointer.
    case null
    /// To a linked address of the same image.
    case address(VirtualAddress)
    /// Into a section of the same relocatable object, `offset` bytes from its start.
    case section(index: Int, offset: UInt64)
    /// To a symbol that another image defines, or so many bytes after it; unknown until the image is loaded.
    case imported(symbol: String, addend: Int64 = 0)
    /// To code or data outside the image, at a runtime address: only in loaded images.
    case foreign(RuntimeAddress)
    /// Unknown from this image alone; the text says why.
    case unresolvable(String)
  }

  /// The way that the target was found; `section-dump` prints `rawValue`.
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
    /// Not a pointer, and not null: a word without a relocation, in a file whose pointers have one.
    case number
    /// Not a pointer that anything resolves: null, or a relocation that writes no address.
    case none
  }

  /// Returns the name of an import: `environ`, `environ+0x8`.
  package static func name(ofImport symbol: String, addend: Int64) -> String {
    guard addend != 0 else { return symbol }
    return "\(symbol)\(addend < 0 ? "-" : "+")\(UInt64(addend.magnitude).hexadecimal)"
  }

  /// The bytes as they are, in the host's byte order; in memory, the runtime address itself.
  package var rawValue: UInt64
  /// The target.
  package var target: Target
  /// The way that the target was found.
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

/// A symbol that a relocation or a fixup names.
package struct Symbol {
  /// The places that a symbol can name.
  package enum Place: Equatable {
    /// Another image defines it: `SHN_UNDEF`; `N_UNDF`, `N_PBUD`.
    case undefined
    /// A number, no address: `SHN_ABS`; `N_ABS`.
    case absolute
    /// Not placed yet: `SHN_COMMON`; `N_UNDF` with a size.
    case common
    /// Another name of a symbol: `N_INDR`.
    case indirect
    /// In the section of that index or ordinal: `N_SECT`.
    case section(Int)
  }

  /// Its number in the table.
  package var number: UInt64
  /// The name; empty for most section symbols. Mach-O: with the underscore that the C compiler puts
  /// before its own.
  package var name: String
  /// `st_value`; `n_value`.
  package var value: UInt64
  /// The place that the symbol names.
  package var place: Place
  /// `st_size`; 0 in Mach-O.
  package var size: UInt64 = 0
  /// The type, `STT_*`; 0 in Mach-O.
  var type: UInt8 = 0
  /// The binding, `STB_*`; 0 in Mach-O.
  var binding: UInt8 = 0
  /// The visibility, `STV_*`; 0 in Mach-O.
  var visibility: UInt8 = 0

  /// Describes a symbol.
  package init(_ number: UInt64, name: String, value: UInt64, place: Place) {
    (self.number, self.name, self.value, self.place) = (number, name, value, place)
  }

  /// Whether this image has what it names.
  package var isDefined: Bool { if case .section = place { true } else { false } }

  /// Its name in messages.
  var title: String { name.isEmpty ? "symbol \(number)" : name }

  /// Returns the target of a pointer to it, or `addend` bytes after it; nil if it is in a section.
  package func target(addend: Int64) -> PointerValue.Target? {
    switch place {
    case .undefined: .imported(symbol: name, addend: addend)
    case .absolute: .unresolvable("\(title) is a number, no address")
    case .common: .unresolvable("\(title) is common: no object places it yet")
    case .indirect: .unresolvable("\(title) is the name of another symbol")
    case .section: nil
    }
  }
}

extension PointerValue {
  /// Whether it leads into its own image, where a text may be.
  var mayLeadToText: Bool {
    switch target {
    case .address, .section: true
    case .null, .imported, .foreign, .unresolvable: false
    }
  }
}

/// The contents of one slot in a section of pointers.
package enum SlotContents {
  /// A pointer. If it leads to a text, that was read.
  case pointer(PointerValue)
  /// A pointer to a text that cannot be read, for this reason.
  case unread(PointerValue, ImageError)
  /// A word that cannot be resolved to a pointer, for this reason.
  case unresolved(ImageError)
}
