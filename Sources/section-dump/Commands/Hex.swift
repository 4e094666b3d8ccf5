internal import ArgumentParser
internal import BinaryImage

/// `section-dump hex --section NAME PATH…`: bytes, each pointer slot resolved beside them.
struct Hex: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hex", abstract: "Shows a section's bytes, each pointer resolved beside them.",
    discussion: """
      Behind an arrow is what the pointers of a line lead to, each with the number of its word \
      in the section. Lines that repeat the one before are counted.
      """)

  @OptionGroup var files: FileOptions
  @OptionGroup var sections: SectionOptions

  func run() throws {
    let slots = PointerSlots(wanted: sections.wanted, maxBytes: files.inputs.maxBytes)
    try files.show(SlotDump(form: .hex, slots: slots))
  }
}

/// Writes lines of bytes, with what is said of each.
struct HexRows {
  private static let rowSize: UInt64 = 16
  /// How much of a text is shown behind an arrow.
  private static let longest = 64

  private let section: Section
  private let size: UInt64
  private let sink: ByteSink
  private let style: Style
  private var reader: SlotReader
  private var start: UInt64 = 0
  private var notes: [String] = []
  /// The line before, if nothing was said of it, and how many equal ones followed that wait.
  private var last: ArraySlice<UInt8> = []
  private var repeats = 0

  init(_ found: SlotSection, of image: any FileImage, to sink: ByteSink, _ style: Style) {
    (section, size, self.sink, self.style) = (found.section, found.size ?? 0, sink, style)
    reader = SlotReader(section, size: size, of: image, room: 0)
  }

  /// Takes in what a slot is; those before have been told.
  mutating func add(_ slot: PointerSlot) {
    guard let note = Self.note(on: slot) else { return }
    while slot.position >= start + Self.rowSize, writeRow(before: slot.position) {}
    notes.append(note)
  }

  /// Writes the rest; the error is why not all bytes were read.
  mutating func finish() -> ImageError? {
    while start < size, writeRow(before: size) {}
    writeRepeats()
    return reader.failure
  }

  /// `[0] 0x560 "ShopModule"`, or nil for a word that is no pointer.
  private static func note(on slot: PointerSlot) -> String? {
    guard slot.target != nil || slot.symbol != nil || slot.kind == .unresolved else { return nil }
    var note = "\(slot.number) \(slot.destination)"
    if let string = slot.string {
      note += string.utf8.count > longest ? " \"\(string.prefix(longest))…\"" : " \"\(string)\""
    }
    if let why = slot.note { note += " (\(why))" }
    return note
  }

  /// `0x3018  60050000 00000000 6a050000 00000000  `.......j.......`  → [0] 0x560 "ShopModule"`
  private mutating func writeRow(before end: UInt64) -> Bool {
    let count = min(Self.rowSize, size - min(start, size))
    guard count > 0, let bytes = reader.load(count, at: start)?.prefix(Int(count)) else {
      return false
    }
    if notes.isEmpty, bytes.elementsEqual(last), count == Self.rowSize {
      let more = reader.repetition(of: Self.rowSize, at: start, before: end)
      repeats += 1 + Int(more / Self.rowSize)
      start += Self.rowSize + more
      return true
    }
    writeRepeats()
    write(bytes, at: start, notes)
    last = notes.isEmpty ? bytes : []
    start += Self.rowSize
    notes = []
    return true
  }

  /// Says how often the last line comes again, or writes the one that does.
  private mutating func writeRepeats() {
    if repeats == 1 {
      write(last, at: start - Self.rowSize, [])
    } else if repeats > 1 {
      sink.write("  " + style.dim("*  \(repeats) more lines of the same") + "\n")
    }
    repeats = 0
  }

  private func write(_ bytes: ArraySlice<UInt8>, at start: UInt64, _ notes: [String]) {
    let address = (section.address.rawValue &+ start).hexadecimal
    let end = (section.address.rawValue &+ section.size).hexadecimal
    var digits = ""
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if index > 0, index % 4 == 0 { digits += " " }
      digits += [byte].hexadecimal
      text.unicodeScalars.append((0x20..<0x7f).contains(byte) ? Unicode.Scalar(byte) : ".")
    }
    let width = Int(Self.rowSize)
    var line = "  \(address.padded(to: end.count))  \(digits.padded(to: width * 2 + 3))  "
    if notes.isEmpty {
      line += text
    } else {
      line +=
        text.padded(to: width) + "  " + style.dim("→") + " "
        + notes.map(\.escaped).joined(separator: ", ")
    }
    sink.write(line + "\n")
  }
}
