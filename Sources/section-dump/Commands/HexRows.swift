internal import BinaryImage

/// A writer of lines of bytes, with notes on their words.
struct HexRows {
  private static let rowSize: UInt64 = 16
  /// The most bytes of a text to show after an arrow.
  private static let longest = 64

  private let section: Section
  private let size: UInt64
  private let sink: ByteSink
  private let arrow: String
  private let addressWidth: Int
  private var window: SectionWindow
  private var start: UInt64 = 0
  /// The notes on the words of the line, one after another.
  private let notes = ByteSink()
  /// The line before, if it has no notes, and the number of equal lines after it that wait.
  private var last: ArraySlice<UInt8> = []
  private var repeats = 0
  private let style: Style

  init(_ found: SlotSection, to sink: ByteSink, _ style: Style) {
    (section, size, self.sink, self.style) = (found.section, found.size ?? 0, sink, style)
    arrow = style.dim("→")
    addressWidth = (section.address.rawValue &+ section.size).hexadecimal.utf8.count
    window = SectionWindow(section, size: size, of: found.image)
  }

  /// Adds a slot. All slots before it must have been added.
  mutating func add(_ slot: PointerSlot) {
    guard slot.target != nil || slot.symbol != nil || slot.kind == .unresolved else { return }
    while slot.position >= start + Self.rowSize, writeRow(before: slot.position) {}
    addNote(on: slot)
  }

  /// Writes the rest. Returns the error if not all bytes could be read.
  mutating func finish() -> ImageError? {
    while start < size, writeRow(before: size) {}
    writeRepeats()
    return window.failure
  }

  /// Adds `[0] 0x560 "ShopModule"`.
  private func addNote(on slot: PointerSlot) {
    if notes.count > 0 { notes.write(word: ", ") }
    slot.writeNumber(to: notes)
    notes.write(UInt8(ascii: " "))
    slot.writeDestination(to: notes)
    // Data that begins with a control byte is hardly a text. It may be a size.
    if let text = slot.text?.cut(to: Self.longest), text.bytes.first?.isOfText ?? true {
      notes.write(word: " \"")
      notes.write(text.bytes.span, as: .cell)
      notes.write(text.size > text.bytes.count ? "…\"" : "\"")
    }
    if let why = slot.note { notes.write(" (\(why))", as: .message) }
  }

  /// `0x3018  60050000 00000000 6a050000 00000000  `.......j.......`  → [0] 0x560 "ShopModule"`
  private mutating func writeRow(before end: UInt64) -> Bool {
    let count = min(Self.rowSize, size - min(start, size))
    guard count > 0, let bytes = window.load(count, at: start)?.prefix(Int(count)) else {
      return false
    }
    if notes.count == 0, count == Self.rowSize, bytes.span.equals(last.span) {
      let more = window.repetition(of: Self.rowSize, at: start, before: end)
      repeats += 1 + Int(more / Self.rowSize)
      start += Self.rowSize + more
      return true
    }
    writeRepeats()
    write(bytes, at: start)
    last = notes.count == 0 ? bytes : []
    start += Self.rowSize
    notes.removeAll()
    return true
  }

  /// Writes how often the last line repeats, or the line itself if it repeats once.
  private mutating func writeRepeats() {
    if repeats == 1 {
      let all = notes.bytes(from: 0)
      notes.removeAll()
      write(last, at: start - Self.rowSize)
      notes.write(all)
    } else if repeats > 1 {
      sink.write("  \(style.dim("*  \(repeats) more lines of the same"))\n")
    }
    repeats = 0
  }

  private func write(_ bytes: ArraySlice<UInt8>, at start: UInt64) {
    let bytes = bytes.span
    sink.write(word: "  ")
    sink.write(hexadecimal: section.address.rawValue &+ start, padding: addressWidth + 2)
    for group in stride(from: 0, to: Int(Self.rowSize), by: 4) {
      let some = bytes.extracting(min(group, bytes.count)..<min(group + 4, bytes.count))
      sink.write(digitsOf: some)
      sink.write(blanks: 2 * (4 - some.count) + 1)
    }
    sink.write(UInt8(ascii: " "))
    for index in bytes.indices {
      sink.write((0x20..<0x7f).contains(bytes[index]) ? bytes[index] : UInt8(ascii: "."))
    }
    if notes.count > 0 {
      sink.write(blanks: Int(Self.rowSize) - bytes.count + 2)
      sink.write(arrow)
      sink.write(UInt8(ascii: " "))
      sink.write(0..<notes.count, of: notes)
    }
    sink.write(UInt8(ascii: "\n"))
  }
}
