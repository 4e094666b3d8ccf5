internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump [records] PATH…`: what each file would register.
struct Records: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "records", abstract: "Shows what each file would register (default).")

  @OptionGroup var files: FileOptions

  @Option(
    name: .customLong("module"),
    help: ArgumentHelp(
      "Show modules whose name matches, as a shell matches files: * ? [a-z]; may be repeated; one "
        + "that matches none is status 1.", valueName: "glob"))
  var modules: [String] = []

  @Option(
    name: .customLong("service"),
    help: ArgumentHelp(
      "Show services whose name matches, likewise; with --module, both.", valueName: "glob"))
  var services: [String] = []

  @Option(
    name: .customLong("require"),
    help: ArgumentHelp(
      "Fail with status 1 unless one of the files has this entry: kind is module, service, target or route; may be "
        + "repeated.",
      valueName: "kind:name"))
  var requirements: [Requirement] = []

  func run() throws {
    try files.show(
      RecordDump(
        wanted: Wanted(requirements, patterns: [("module", modules), ("service", services)])))
  }
}

extension Requirement: ExpressibleByArgument {
  private static let kinds: [RecordKind] = [.module, .service, .target, .route]
  static let defaultCompletionKind = CompletionKind.list(kinds.map { "\($0):" })

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].isEmpty,
      let kind = Self.kinds.first(where: { $0.description == parts[0] })
    else { return nil }
    self.init(kind: kind, name: String(parts[1]))
  }
}

extension Record: Tabled {
  static let titles = ["KIND", "NAME", "IMPLEMENTATION", "ATTRIBUTES", "WHERE"]

  static func writeFields(of record: Record?, to writer: inout some FieldWriter) {
    writeSource(of: record, to: &writer)
    writer.hexadecimal(key: "address", record?.origin.address.rawValue)
    writer.hexadecimal(key: "offset", record?.origin.offset?.rawValue)
    writer.string(key: "encoding", record?.encoding.rawValue)
    writer.string(key: "resolution", record?.resolution.rawValue)
    writer.string(key: "accessor", record?.accessorName)
  }

  /// Writes the fields that do not differ with every build.
  static func writeSource(of record: Record?, to writer: inout some FieldWriter) {
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
}

/// The entries of each image.
struct RecordDump: FileDump {
  typealias Element = Record

  static let contentKey: StaticString = "records"

  /// What must be there, and which entries are shown.
  var wanted = Wanted()

  var emptyNote: String { wanted.isSelection ? "no such entries" : "no entries" }

  mutating func read(_ found: ReadFile) throws(ImageError) -> [Record] {
    let scan = try found.image.scanEntries()
    found.problems += scan.rejections.map { ImageError($0) }
    if !found.place.container.isEmpty { found.entrySize = scan.size }
    guard !wanted.isEmpty else { return scan.records }
    return scan.records.filter { record in
      let isShown = wanted.sees(record.name, of: record.kind.description)
      return isShown || !wanted.isSelection
    }
  }
}
