internal import BinaryImage

/// One word of a section that is read as an array of pointers, or a run of equal words. In a section that holds texts,
/// one text.
struct PointerSlot {
  /// The kinds of words.
  enum Kind: String {
    /// A null pointer.
    case null
    /// A word that is no pointer.
    case number
    /// A pointer to data of this image.
    case pointer
    /// A pointer to code of this image.
    case code
    /// A pointer to a symbol of another image.
    case imported = "import"
    /// A word whose loaded value the file does not show. The note says why.
    case unresolved
    /// No word, but a text in the section itself.
    case text
  }

  /// The number of the slot, counted over all sections of this name.
  var index: Int
  /// Its offset in the section.
  var position: UInt64
  var address: UInt64
  var offset: UInt64?
  /// The word; nil for a text.
  var raw: UInt64?
  var kind = Kind.null
  var resolution = PointerValue.Resolution.none
  /// The target in this image; in objects, relative to the section that `symbol` names.
  var target: UInt64?
  var symbol: String?
  /// The distance of the target from an imported symbol, in bytes.
  var addend: Int64 = 0
  /// The text at the target, or in the section itself.
  var text: SlotText?
  /// The number of equal words, one after the other: nulls, numbers or unresolved words.
  var repeats = 1
  /// The reason that no text is shown, or that the word is unresolved.
  var note: String?
  /// The problem of the word, if there is one.
  var failures: [ImageError] = []

  init(_ index: Int, at position: UInt64, of section: Section) {
    (self.index, self.position) = (index, position)
    address = section.address.rawValue &+ position
    offset = section.isCompressed ? nil : section.offset.map { $0.rawValue &+ position }
  }

  /// Writes the JSON and CSV fields of a slot; nil is for a header.
  static func writeFields(of slot: Self?, to writer: inout FieldWriter) {
    guard let slot else { return writeFields(of: nothing, to: &writer) }
    writer.number(key: "index", slot.index)
    writer.hexadecimal(key: "address", slot.address)
    writer.hexadecimal(key: "offset", slot.offset)
    writer.hexadecimal(key: "raw", slot.raw)
    writer.string(key: "resolution", slot.resolution.rawValue)
    writer.hexadecimal(key: "target", slot.target)
    writer.string(key: "symbol", writer.isJSON ? slot.symbol : slot.symbolName)
    if writer.isJSON, slot.addend != 0 { writer.number(key: "addend", Int(slot.addend)) }
    writer.string(key: "string", slot.text?.bytes, bytesKey: "stringBytes")
    writer.string(key: "kind", slot.kind.rawValue)
    writer.number(key: "repeats", slot.repeats)
    writer.message(key: "note", slot.note)
    writer.number(key: "stringSize", slot.text?.size)
  }

  private static let nothing = PointerSlot(
    0, at: 0,
    of: Section(index: 0, name: "", address: VirtualAddress(rawValue: 0), offset: nil, size: 0))

  private var symbolName: String? {
    symbol.map { PointerValue.name(ofImport: $0, addend: addend) }
  }

  /// Writes the target of the slot for a person, or the number if it is a number.
  func writeDestination(to sink: ByteSink) {
    if kind == .number, let raw { return sink.write(hexadecimal: raw) }
    let name = symbolName ?? (kind == .code ? "code" : nil)
    if let name { sink.write(name, as: .cell) }
    if name != nil, target != nil { sink.write(UInt8(ascii: " ")) }
    if let target { sink.write(hexadecimal: target) }
    if name == nil, target == nil { sink.write(word: "–") }
  }

  /// Writes `[3]`, or `[3…9]` for equal ones.
  func writeNumber(to sink: ByteSink) {
    sink.write(UInt8(ascii: "["))
    sink.write(decimal: index)
    if repeats > 1 {
      sink.write(word: "…")
      sink.write(decimal: index + repeats - 1)
    }
    sink.write(UInt8(ascii: "]"))
  }

  /// Returns whether to show this slot and an equal slot after it as one.
  func isRepeated(by next: Self) -> Bool {
    (kind == .null || kind == .number || kind == .unresolved) && kind == next.kind
      && raw == next.raw && note == next.note && symbol == next.symbol && addend == next.addend
      && failures == next.failures
      && resolution == next.resolution
  }
}

extension Section {
  /// Whether the file has its bytes in compressed form: `SHF_COMPRESSED`.
  var isCompressed: Bool { segment == nil && flags.contains("C") }
}
