internal import BinaryImage

/// What a command shows of sections that it reads slot by slot.
struct SlotDump: FileDump {
  enum Form {
    /// The bytes of a section.
    case hex
    /// The texts that each slot of a section leads to, or that the section holds.
    case strings
  }

  static let contentKey: StaticString = "sections"

  let form: Form
  var slots: PointerSlots
  var wanted: Wanted {
    get { slots.wanted }
    set { slots.wanted = newValue }
  }

  var emptyNote: String { "no section \(slots.wanted.text.escaped)" }

  mutating func read(_ found: ReadFile) throws(ImageError) -> [SlotSection] {
    try slots.sections(of: found)
  }

  /// The texts of a section that holds texts and is shown as such.
  private func texts(of section: SlotSection) -> SectionTexts? {
    form == .strings && slots.stride == nil ? SectionTexts(of: section) : nil
  }

  /// Each slot of a section in turn; what is damaged joins the problems.
  private func forEach(
    in section: SlotSection, of found: ReadImage, _ body: (PointerSlot) -> Void
  ) {
    guard let texts = texts(of: section) else {
      return slots.forEach(in: section, of: found, body)
    }
    let failure = texts.forEach { index, position, text in
      var slot = PointerSlot(index, at: position, of: section.section)
      (slot.kind, slot.text) = (.text, SlotText(bytes: [UInt8](copying: text), size: text.count))
      body(slot)
    }
    if let failure { found.problems.append(failure) }
  }

  func write(_ section: SlotSection, of found: ReadImage, to json: inout FieldWriter) {
    json.object { json in
      Section.writeSource(of: section.section, to: &json)
      json.array(key: "entries") { json in
        forEach(in: section, of: found) { slot in
          json.object { PointerSlot.writeFields(of: slot, to: &$0) }
        }
      }
    }
  }

  static func writeColumns(to csv: inout FieldWriter) { write(nil, of: nil, to: &csv) }

  func writeRows(_ section: SlotSection, of found: ReadImage, to csv: inout FieldWriter) {
    forEach(in: section, of: found) { slot in
      csv.row { Self.write(slot, of: section.section, to: &$0) }
    }
  }

  private static func write(_ slot: PointerSlot?, of section: Section?, to csv: inout FieldWriter) {
    csv.string(key: "section", section?.allNameBytes, bytesKey: "sectionBytes")
    PointerSlot.writeFields(of: slot, to: &csv)
  }

  func writeTable(
    _ sections: [SlotSection], of found: ReadImage, to sink: ByteSink, _ style: Style
  ) {
    for section in sections {
      let size = section.section.size
      guard section.size != nil else {
        sink.write(word: "  ")
        section.section.writeFullName(to: sink)
        sink.write(": \(size) bytes of memory that start as zeros; the file has none of them\n")
        continue
      }
      if let texts = texts(of: section) {
        writeHeading(of: section, to: sink, style)
        writeTexts(texts, of: section, in: found, to: sink)
      } else if form == .hex {
        writeHeading(of: section, to: sink, style)
        var rows = HexRows(section, to: sink, style)
        forEach(in: section, of: found) { rows.add($0) }
        if let failure = rows.finish() { found.problems.append(failure) }
      } else {
        writeSlots(of: section, in: found, to: sink, style)
      }
    }
  }

  private func writeHeading(of section: SlotSection, to sink: ByteSink, _ style: Style) {
    sink.write(word: "  ")
    style.dim(sink) {
      section.section.writeFullName(to: sink)
      sink.write(word: ", ")
      sink.write(decimal: section.section.size)
      sink.write(word: " bytes")
    }
    sink.write(UInt8(ascii: "\n"))
  }

  /// Writes a line for each text: its address, and all of it.
  private func writeTexts(
    _ texts: SectionTexts, of section: SlotSection, in found: ReadImage, to sink: ByteSink
  ) {
    let address = section.section.address.rawValue
    let width = (address &+ section.section.size).hexadecimal.utf8.count
    let failure = texts.forEach { _, position, text in
      sink.write(word: "  ")
      sink.write(hexadecimal: address &+ position, padding: width + 2)
      sink.write(text, as: .cell)
      sink.write(UInt8(ascii: "\n"))
    }
    if let failure { found.problems.append(failure) }
  }

  private func writeSlots(
    of section: SlotSection, in found: ReadImage, to sink: ByteSink, _ style: Style
  ) {
    let name = ByteSink.bytes(section.section.writeFullName)
    var table = Table(["SLOT", "ADDRESS", "RESOLUTION", "TARGET", "STRING"], to: sink, style)
    forEach(in: section, of: found) { slot in
      table.cell {
        $0.write(name)
        slot.writeNumber(to: $0)
        if let place = slots.stride.map({ slot.position % $0 }), place > 0 {
          $0.write(word: "+")
          $0.write(decimal: place)
        }
      }
      table.cell(hexadecimal: slot.address)
      table.cell { $0.write(slot.resolution.rawValue) }
      table.cell { slot.writeDestination(to: $0) }
      table.cell { sink in
        if let text = slot.text {
          text.write(to: sink)
        } else if let note = slot.note {
          sink.write("(\(note))", as: .message)
        } else {
          sink.write(word: "–")
        }
      }
    }
    table.writeRows()
  }
}
