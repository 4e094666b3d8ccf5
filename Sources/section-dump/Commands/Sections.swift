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
  static let fields: [Field<Section>] =
    Section.fields + [
      .text("flags") { $0.flags },
      .text("type") { $0.type },
      .size("alignment") { $0.alignment },
      .size("entrySize") { $0.entrySize },
      .number("link") { $0.link },
    ]
  static let titles = [
    "INDEX", "NAME", "TYPE", "ADDRESS", "OFFSET", "SIZE", "ENTRY", "LINK", "ALIGN", "FLAGS",
  ]

  var emptyNote: String { "no sections" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [Section] {
    try found.image.allSections()
  }

  static func cells(of section: Section) -> [String] {
    [
      String(section.index), section.fullName, section.type,
      section.address.rawValue.hexadecimal, section.offset.map(\.rawValue.hexadecimal) ?? "–",
      String(section.size), String(section.entrySize), section.link.map { String($0) } ?? "–",
      String(section.alignment), section.flags,
    ]
  }
}

extension Section {
  /// `SEGMENT,section` where there are segments.
  var fullName: String { segment.map { "\($0),\(name)" } ?? name }

  /// What every command says of a section.
  static let fields: [Field<Section>] = [
    .text("name") { $0.name },
    .text("segment") { $0.segment },
    .hexadecimal("address") { $0.address.rawValue },
    .hexadecimal("offset") { $0.offset?.rawValue },
    .size("size") { $0.size },
  ]
}
