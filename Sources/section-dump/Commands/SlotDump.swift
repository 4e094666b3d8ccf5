internal import BinaryImage

/// What a command shows of sections that it reads slot by slot.
struct SlotDump: Dump {
  enum Form {
    /// The bytes of a section.
    case hex
    /// The texts that each slot of a section leads to, or that the section holds.
    case strings
  }

  static let contentKey: StaticString = "sections"
  static let columns = ["section"] + PointerSlot.fields.columns()

  let form: Form
  var slots: PointerSlots
  var wanted: Wanted {
    get { slots.wanted }
    set { slots.wanted = newValue }
  }

  var emptyNote: String { "no section \(slots.wanted.text.escaped)" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [SlotSection] {
    try slots.sections(of: found)
  }

  /// Each slot of a section in turn; what is damaged joins the problems.
  private func forEach(
    in section: SlotSection, of found: ReadImage, _ body: (PointerSlot) -> Void
  ) {
    guard form == .strings, slots.stride == nil,
      let texts = SectionTexts(of: section, in: found.image)
    else { return slots.forEach(in: section, of: found, body) }
    if let failure = texts.forEach(body) { found.problems.append(failure) }
  }

  func write(_ section: SlotSection, of found: ReadImage, to json: inout JSONWriter) {
    json.object { json in
      json.fields(Section.fields, of: section.section)
      json.array(key: "entries") { json in
        forEach(in: section, of: found) { slot in
          json.object { $0.fields(PointerSlot.fields, of: slot) }
        }
      }
    }
  }

  func writeRows(_ section: SlotSection, of found: ReadImage, _ row: ([String]) -> Void) {
    forEach(in: section, of: found) {
      row([section.section.name] + PointerSlot.fields.cells(of: $0))
    }
  }

  func writeTable(
    _ sections: [SlotSection], of found: ReadImage, to sink: ByteSink, _ style: Style
  ) {
    for section in sections {
      let name = section.section.fullName
      switch (section.size, form) {
      case (nil, _):
        sink.write(
          "  \(name.escaped): \(section.section.size) bytes of memory that start as zeros; the file "
            + "has none of them\n")
      case (_, .hex):
        sink.write("  " + style.dim("\(name.escaped), \(section.section.size) bytes") + "\n")
        var rows = HexRows(section, of: found.image, to: sink, style)
        forEach(in: section, of: found) { rows.add($0) }
        if let failure = rows.finish() { found.problems.append(failure) }
      case (_, .strings):
        var table = Table(["SLOT", "ADDRESS", "RESOLUTION", "TARGET", "STRING"])
        forEach(in: section, of: found) { slot in
          table.add(cells(of: slot, in: name))
          // All rows of a large section are not held, nor aligned with each other.
          if table.count >= 4096 { table.write(to: sink, style) }
        }
        table.write(to: sink, style)
      }
    }
  }

  private func cells(of slot: PointerSlot, in section: String) -> [String] {
    let place = slots.stride.map { slot.position % $0 }.flatMap { $0 > 0 ? "+\($0)" : nil } ?? ""
    return [
      "\(section)\(slot.number)\(place)", slot.address.hexadecimal,
      slot.kind == .text ? "text" : slot.resolution.rawValue, slot.destination,
      slot.string ?? slot.note.map { "(\($0))" } ?? "–",
    ]
  }
}
