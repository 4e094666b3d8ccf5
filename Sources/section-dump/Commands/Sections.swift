internal import ArgumentParser
internal import BinaryImage

/// `section-dump sections PATH…`: the section table.
struct Sections: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sections", abstract: "Shows the section table.")

  @OptionGroup var files: FileOptions

  func run() throws { try files.show(SectionDumpTable()) }
}

/// The sections of each image.
struct SectionDumpTable: ListDump {
  static let contentKey: StaticString = "sections"
  static let titles = [
    "INDEX", "NAME", "TYPE", "ADDRESS", "OFFSET", "SIZE", "ENTRY", "LINK", "ALIGN", "FLAGS",
  ]

  var emptyNote: String { "no sections" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [Section] {
    try found.image.allSections()
  }

  static func writeFields(of section: Section?, to writer: inout some FieldWriter) {
    Section.writeFields(of: section, to: &writer)
    writer.string(key: "flags", section?.flags)
    writer.string(key: "type", section?.type)
    writer.size(key: "alignment", section?.alignment)
    writer.size(key: "entrySize", section?.entrySize)
    writer.number(key: "link", section?.link)
  }

  static func addCells(of section: Section, to table: inout Table) {
    table.cell(decimal: UInt64(section.index))
    table.cell { section.writeFullName(to: $0) }
    table.cell { $0.write(section.type, as: .cell) }
    table.cell(hexadecimal: section.address.rawValue)
    table.cell { sink in
      if let offset = section.offset {
        sink.write(hexadecimal: offset.rawValue)
      } else {
        sink.write(word: "–")
      }
    }
    table.cell(decimal: section.size)
    table.cell(decimal: section.entrySize)
    table.cell { sink in
      if let link = section.link { sink.write(decimal: link) } else { sink.write(word: "–") }
    }
    table.cell(decimal: section.alignment)
    table.cell { $0.write(section.flags, as: .cell) }
  }
}

extension Section {
  /// The name, whether it is UTF-8 or not.
  var allNameBytes: [UInt8] { nameBytes ?? Array(name.utf8) }

  /// Writes `SEGMENT,section` where there are segments.
  func writeFullName(to sink: ByteSink) {
    if let segment {
      sink.write(segment, as: .cell)
      sink.write(UInt8(ascii: ","))
    }
    if let nameBytes {
      sink.write(nameBytes.span, as: .cell)
    } else {
      sink.write(name, as: .cell)
    }
  }

  /// `SEGMENT,section` where there are segments, as patterns are held against it.
  var fullName: String { segment.map { "\($0),\(name)" } ?? name }

  /// Writes what every command says of a section; without one, the same fields.
  static func writeFields(of section: Section?, to writer: inout some FieldWriter) {
    writer.string(
      key: "name", section?.allNameBytes, bytesKey: "nameBytes")
    writer.string(key: "segment", section?.segment)
    writer.hexadecimal(key: "address", section?.address.rawValue)
    writer.hexadecimal(key: "offset", section?.offset?.rawValue)
    writer.size(key: "size", section?.size)
  }
}
