internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump [records] PATH…`: shows what each file would register.
struct Records: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "records", abstract: "Shows what each file would register (default).")

  @OptionGroup var files: FileOptions

  @Option(
    name: .customLong("module"),
    help: ArgumentHelp(
      "Show modules whose name matches, as a shell matches files: * ? [a-z]; may be repeated; status "
        + "1 if one has no match.", valueName: "glob"))
  var modules: [String] = []

  @Option(
    name: .customLong("service"),
    help: ArgumentHelp(
      "Show services whose name matches, likewise; with --module, both.", valueName: "glob"))
  var services: [String] = []

  @OptionGroup var required: RequirementOptions

  func run() throws {
    let patterns = [("module", modules), ("service", services)]
    try files.show(Record.listing(Wanted(required.requirements, patterns: patterns)))
  }
}

/// The entries that must be there.
struct RequirementOptions: ParsableArguments {
  typealias Requirement = (kind: RecordKind, name: String)

  static let kinds: [RecordKind] = [.module, .service, .target, .route, .plugin]

  @Option(
    name: .customLong("require"),
    help: ArgumentHelp(
      "Fail with status 1 unless one of the files has this entry: kind is module, service, target, route or plugin. verify "
        + "counts only linked files if there are any. May be repeated.", valueName: "kind:name"),
    completion: .list(Self.kinds.map { "\($0):" }),
    transform: Self.requirement)
  var requirements: [Requirement] = []

  /// Reads `module:shop`.
  static func requirement(_ argument: String) throws -> Requirement {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let kind = kinds.first(where: { $0.description == parts[0] }) else {
      throw ValidationError(
        "The kind '\(parts[0])' is unknown; use module, service, target, route or plugin.")
    }
    guard let name = parts.dropFirst().first, !name.isEmpty else {
      throw ValidationError("The name is missing; write \(kind):name.")
    }
    return (kind, String(name))
  }
}

extension Record: Tabled {
  static let titles = ["KIND", "NAME", "IMPLEMENTATION", "ATTRIBUTES", "WHERE"]

  static func writeFields(of record: Record?, to writer: inout FieldWriter) {
    writeSource(of: record, to: &writer)
    writer.hexadecimal(key: "address", record?.origin.address.rawValue)
    writer.hexadecimal(key: "offset", record?.origin.offset?.rawValue)
    writer.string(key: "encoding", record?.encoding.rawValue)
    writer.string(key: "resolution", record?.resolution.rawValue)
    writer.string(key: "accessor", record?.accessorName)
  }

  /// Writes the fields that do not differ with every build.
  static func writeSource(of record: Record?, to writer: inout FieldWriter) {
    writer.string(key: "kind", record?.kind.description)
    writer.string(key: "name", record?.name)
    writer.string(key: "implementation", record?.implementation)
    writer.number(key: "priority", record?.attributes.priority)
    writer.nested(key: "attributes") { record?.attributes.write(to: &$0) }
    writer.string(key: "section", record?.origin.section)
    writer.number(key: "index", record?.origin.index)
  }

  func addCells(to table: inout Table) {
    table.cell(kind.description)
    table.cell(name)
    table.cell(implementation)
    table.cell(attributes.words)
    table.cell(place)
  }

  /// Returns the listing of each image's entries, or only of the wanted ones if `wanted` selects some.
  static func listing(_ wanted: Wanted = Wanted()) -> ImageListing<Record> {
    ImageListing(
      key: "records", emptyNote: wanted.isSelection ? "no such entries" : "no entries",
      wanted: wanted, read: read)
  }

  /// Reads the entries of an image.
  private static func read(
    _ image: any FileImage, _ found: ReadImage, _ wanted: inout Wanted
  ) throws(ImageError) -> [Record] {
    let scan = try image.scanEntries()
    found.problems += scan.rejections.map { ImageError($0) }
    if !found.place.container.isEmpty { found.entrySize = scan.size(in: found.place) }
    guard !wanted.isEmpty else { return scan.records }
    // All entries are compared, because they may be wanted or resemble wanted ones.
    return scan.records.filter {
      wanted.sees($0.name, of: $0.kind.description) || !wanted.isSelection
    }
  }
}
