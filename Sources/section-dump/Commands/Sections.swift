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
struct SectionDumpTable: Dump {
  static let contentKey: StaticString = "sections"
  static let columns = [
    "name", "segment", "address", "offset", "size", "flags", "type", "alignment", "entrySize",
    "link",
  ]

  var emptyNote: String { "no sections" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [Section] {
    try found.image.allSections()
  }

  func write(_ section: Section, of found: ReadImage, to json: inout JSONWriter) {
    json.object { json in
      section.write(to: &json)
      json.string(key: "flags", section.flags)
      json.string(key: "type", section.type)
      json.number(key: "alignment", Int(clamping: section.alignment))
      json.number(key: "entrySize", Int(clamping: section.entrySize))
      json.number(key: "link", section.link)
    }
  }

  func writeRows(_ section: Section, of found: ReadImage, _ row: ([String]) -> Void) {
    row([
      section.name, section.segment ?? "", section.address.rawValue.hexadecimal,
      section.offset.map(\.rawValue.hexadecimal) ?? "", String(section.size),
      section.flags, section.type, String(section.alignment), String(section.entrySize),
      section.link.map { String($0) } ?? "",
    ])
  }

  func writeTable(_ sections: [Section], of found: ReadImage, to sink: ByteSink, _ style: Style) {
    var table = Table([
      "INDEX", "NAME", "TYPE", "ADDRESS", "OFFSET", "SIZE", "ENTRY", "LINK", "ALIGN", "FLAGS",
    ])
    for section in sections {
      table.add([
        String(section.index), section.fullName, section.type,
        section.address.rawValue.hexadecimal,
        section.offset.map(\.rawValue.hexadecimal) ?? "–", String(section.size),
        String(section.entrySize), section.link.map { String($0) } ?? "–",
        String(section.alignment), section.flags,
      ])
    }
    table.write(to: sink, style)
  }
}

extension Section {
  /// `SEGMENT,section` where there are segments.
  var fullName: String { segment.map { "\($0),\(name)" } ?? name }

  /// The keys that every command writes of a section.
  func write(to json: inout JSONWriter) {
    json.string(key: "name", name)
    json.string(key: "segment", segment)
    json.hexadecimal(key: "address", address.rawValue)
    json.hexadecimal(key: "offset", offset?.rawValue)
    json.number(key: "size", Int(clamping: size))
  }
}
