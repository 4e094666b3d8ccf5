/// A symbol that a relocation or a fixup names.
package struct Symbol {
  /// What the symbol names.
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
  /// What it names.
  package var place: Place
  /// `st_size`; 0 in Mach-O.
  package var size: UInt64 = 0
  /// The type, `STT_*`; 0 in Mach-O.
  var type: UInt8 = 0
  /// Who sees it, `STB_*`; 0 in Mach-O.
  var binding: UInt8 = 0
  /// Who of them may bind to it, `STV_*`; 0 in Mach-O.
  var visibility: UInt8 = 0

  /// Describes a symbol.
  package init(_ number: UInt64, name: String, value: UInt64, place: Place) {
    (self.number, self.name, self.value, self.place) = (number, name, value, place)
  }

  /// Whether this image has what it names.
  package var isDefined: Bool { if case .section = place { true } else { false } }

  /// What messages call it.
  var title: String { name.isEmpty ? "symbol \(number)" : name }

  /// Where a pointer to it leads, or so many bytes behind it; nil where it is in a section.
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
