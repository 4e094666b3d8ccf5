internal import ArgumentParser
internal import BinaryImage

/// `section-dump sections PATH…`: shows the section table.
struct Sections: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sections", abstract: "Shows the section table.")

  @OptionGroup var files: FileOptions

  func run() throws { try files.show(Section.listing) }
}

extension Section: Tabled {
  /// The section table of each image.
  static var listing: ImageListing<Section> {
    ImageListing(key: "sections", emptyNote: "no sections") { image, _, _ throws(ImageError) in
      try image.allSections()
    }
  }

  static let titles = [
    "INDEX", "NAME", "TYPE", "ADDRESS", "OFFSET", "SIZE", "ENTRY", "LINK", "ALIGN", "FLAGS",
  ]

  static func writeFields(of section: Section?, to writer: inout FieldWriter) {
    writeSource(of: section, to: &writer)
    writer.string(key: "flags", section?.flags)
    writer.string(key: "type", section?.type)
    writer.size(key: "alignment", section?.alignment)
    writer.size(key: "entrySize", section?.entrySize)
    writer.number(key: "link", section?.link)
    writer.number(key: "index", section?.index)
  }

  func addCells(to table: inout Table) {
    table.cell(decimal: UInt64(index))
    table.cell { writeFullName(to: $0) }
    table.cell { $0.write(type, as: .cell) }
    table.cell(hexadecimal: address.rawValue)
    table.cell(hexadecimal: offset?.rawValue)
    table.cell(decimal: size)
    table.cell(decimal: entrySize)
    table.cell { sink in
      if let link = link { sink.write(decimal: link) } else { sink.write(word: "–") }
    }
    table.cell(decimal: alignment)
    table.cell { $0.write(flags, as: .cell) }
  }
}

extension Section {
  /// The bytes of the name, whether it is UTF-8 or not.
  var allNameBytes: [UInt8] { nameBytes ?? Array(name.utf8) }

  /// Writes `SEGMENT,section` if there are segments, else the name.
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

  /// `SEGMENT,section` if there are segments, else the name. Patterns are compared with it.
  var fullName: String { segment.map { "\($0),\(name)" } ?? name }

  /// Writes the fields that every command shows of a section; nil is for a header.
  static func writeSource(of section: Section?, to writer: inout FieldWriter) {
    writer.string(key: "name", section?.allNameBytes, bytesKey: "nameBytes")
    writer.string(key: "segment", section?.segment)
    writer.hexadecimal(key: "address", section?.address.rawValue)
    writer.hexadecimal(key: "offset", section?.offset?.rawValue)
    writer.size(key: "size", section?.size)
  }
}
