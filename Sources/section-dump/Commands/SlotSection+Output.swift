internal import BinaryImage

extension SlotSection: Tabled {
  static let titles = ["SLOT", "ADDRESS", "RESOLUTION", "TARGET", "STRING"]

  /// Hands over each slot, or each text of a section that is shown as texts.
  private func forEach(_ body: (PointerSlot) -> Void) {
    guard showsTexts else { return forEachSlot(body) }
    forEachText { index, position, text, goesOn in
      var slot = PointerSlot(index, at: position, of: section)
      (slot.kind, slot.text) = (.text, SlotText(bytes: [UInt8](copying: text), size: text.count))
      slot.note = goesOn ? "the text goes on in the next one" : nil
      body(slot)
    }
  }

  static func writeFields(of known: Self?, to writer: inout FieldWriter) {
    guard writer.isJSON, let known else { return writeRow(of: known?.section, nil, to: &writer) }
    Section.writeSource(of: known.section, to: &writer)
    writer.nested(key: "entries") { json in
      json.array { json in
        known.forEach { slot in
          json.object { PointerSlot.writeFields(of: slot, to: &$0) }
        }
      }
    }
  }

  func writeRows(to csv: inout FieldWriter) {
    forEach { slot in csv.row { Self.writeRow(of: section, slot, to: &$0) } }
  }

  private static func writeRow(
    of section: Section?, _ slot: PointerSlot?, to writer: inout FieldWriter
  ) {
    writer.string(key: "section", section?.allNameBytes, bytesKey: "sectionBytes")
    PointerSlot.writeFields(of: slot, to: &writer)
  }

  static func writeTable(_ sections: [Self], to sink: ByteSink, _ style: Style) {
    for known in sections {
      let section = known.section
      if known.size == nil {
        sink.write(word: "  ")
        section.writeFullName(to: sink)
        sink.write(
          ": \(section.size) bytes of memory that start as zeros; the file has none of them\n")
      } else if known.showsTexts {
        known.writeHeading(to: sink, style)
        known.writeTexts(to: sink)
      } else if known.slots.showsBytes {
        known.writeHeading(to: sink, style)
        var rows = HexRows(known, to: sink, style)
        known.forEachSlot { rows.add($0) }
        if let failure = rows.finish() { known.found.problems.append(failure) }
      } else {
        var table = Table(titles, to: sink, style)
        known.addCells(to: &table)
        table.writeRows()
      }
    }
  }

  private func writeHeading(to sink: ByteSink, _ style: Style) {
    sink.write(word: "  ")
    style.dim(sink) {
      section.writeFullName(to: sink)
      sink.write(word: ", ")
      sink.write(decimal: section.size)
      sink.write(word: " bytes")
    }
    sink.write(UInt8(ascii: "\n"))
  }

  /// Writes a line for each text: its address and the whole text.
  private func writeTexts(to sink: ByteSink) {
    let address = section.address.rawValue
    let width = (address &+ section.size).hexadecimal.utf8.count
    forEachText { _, position, text, goesOn in
      sink.write(word: "  ")
      sink.write(hexadecimal: address &+ position, padding: width + 2)
      sink.write(text, as: .cell)
      sink.write(word: goesOn ? "…\n" : "\n")
    }
  }

  /// Adds a row for each slot.
  func addCells(to table: inout Table) {
    let name = ByteSink.bytes(section.writeFullName)
    forEachSlot { slot in
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
  }
}
