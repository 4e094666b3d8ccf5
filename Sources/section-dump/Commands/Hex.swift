internal import ArgumentParser
internal import BinaryImage

/// `section-dump hex --section NAME PATH…`: bytes, each pointer slot resolved beside them.
struct Hex: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hex", abstract: "Shows a section's bytes, each pointer resolved beside them.")

  @OptionGroup var inputs: InputOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var isolation: IsolationOptions

  @Option(
    help: ArgumentHelp(
      "The section's exact name; for Mach-O also SEGMENT,section.", valueName: "name"))
  var section: String

  func run() throws {
    let slots = PointerSlots(sectionName: section, maxBytes: inputs.values.maxBytes)
    var run = DumpRun(HexDump(slots: slots), isolation.apply(to: inputs.values), output.values)
    try run().end()
  }
}

/// The bytes of a section; a word that is no pointer is no problem here.
struct HexDump: Dump {
  static let contentKey = "sections"
  static let columns = PointerSlot.columns
  private static let rowSize = 16

  let slots: PointerSlots

  var emptyNote: String { "no section \(slots.sectionName.escaped)" }

  mutating func read(
    _ image: any FileImage, problems: inout [Problem]
  ) throws(ImageError) -> [(section: Section, firstIndex: Int)] {
    let sections = try slots.sections(of: image, problems: &problems)
    var readable: [(section: Section, firstIndex: Int)] = []
    for entry in sections {
      do throws(ImageError) {
        try image.withBytes(of: entry.section) { _ in }
        readable.append(entry)
      } catch {
        problems.append(Problem(error))
      }
    }
    return readable
  }

  func isEmpty(_ sections: [(section: Section, firstIndex: Int)]) -> Bool { sections.isEmpty }

  func write(
    _ sections: [(section: Section, firstIndex: Int)], of image: any FileImage,
    to json: inout JSONWriter, problems: inout [Problem]
  ) {
    for (section, firstIndex) in sections {
      json.object { json in
        section.write(to: &json)
        json.key("entries")
        json.array { json in
          slots.forEach(in: section, firstIndex: firstIndex, of: image) { $0.write(to: &json) }
        }
      }
    }
  }

  func writeRows(
    _ sections: [(section: Section, firstIndex: Int)], of image: any FileImage,
    problems: inout [Problem], _ row: ([String]) -> Void
  ) {
    for (section, firstIndex) in sections {
      slots.forEach(in: section, firstIndex: firstIndex, of: image) { slot in
        row(slot.fields(section: section.name))
      }
    }
  }

  func writeTable(
    _ sections: [(section: Section, firstIndex: Int)], of image: any FileImage, to sink: ByteSink,
    _ style: Style, problems: inout [Problem]
  ) {
    for (section, firstIndex) in sections {
      sink.write("  " + style.dim("\(section.fullName.escaped), \(section.size) bytes") + "\n")
      do throws(ImageError) {
        try image.withBytes(of: section) { bytes in
          var notes: [String] = []
          var rowStart = 0
          slots.forEach(in: section, firstIndex: firstIndex, of: image) { slot in
            while Int(slot.position) >= rowStart + Self.rowSize {
              writeRow(bytes, at: rowStart, in: section, notes, to: sink, style)
              notes = []
              rowStart += Self.rowSize
            }
            if let note = Self.note(on: slot) { notes.append(note) }
          }
          while rowStart < bytes.count {
            writeRow(bytes, at: rowStart, in: section, notes, to: sink, style)
            notes = []
            rowStart += Self.rowSize
          }
        }
      } catch {
        problems.append(Problem(error))
      }
    }
  }

  /// `0x560 "ShopModule"`, or nil for a word that is no pointer.
  private static func note(on slot: PointerSlot) -> String? {
    guard slot.target != nil || slot.symbol != nil else { return nil }
    guard let string = slot.string else { return slot.destination }
    return "\(slot.destination) \"\(string)\""
  }

  /// `0x3018  60050000 00000000 6a050000 00000000  `.......j.......`  → 0x560 "ShopModule"`
  private func writeRow(
    _ bytes: Span<UInt8>, at start: Int, in section: Section, _ notes: [String],
    to sink: ByteSink, _ style: Style
  ) {
    let address = String(hexadecimal: section.address.rawValue &+ UInt64(start))
    let end = String(hexadecimal: section.address.rawValue &+ section.size)
    var digits = ""
    var text = ""
    for index in start..<(start + Self.rowSize) {
      if index > start, index % 4 == 0 { digits += " " }
      guard index < bytes.count else {
        digits += "  "
        continue
      }
      let byte = bytes[index]
      digits += [byte].hexadecimal
      text.unicodeScalars.append(
        (0x20..<0x7f).contains(byte) ? Unicode.Scalar(byte) : ".")
    }
    let padding = String(repeating: " ", count: max(0, end.count - address.count))
    var line = "  \(address)\(padding)  \(digits)  \(text)"
    if !notes.isEmpty {
      line += String(repeating: " ", count: Self.rowSize - text.count)
      line += "  " + style.dim("→") + " " + notes.map(\.escaped).joined(separator: ", ")
    }
    sink.write(line + "\n")
  }
}
