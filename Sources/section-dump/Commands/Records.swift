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

/// An entry that one of the files must have.
struct Requirement: Hashable {
  var kind: RecordKind
  var name: String
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

/// The entries of each image.
struct RecordDump: ListDump {
  static let contentKey: StaticString = "records"
  static let fields: [Field<Record>] = [
    .text("kind") { $0.kind.description },
    .text("name") { $0.name },
    .text("implementation") { $0.implementation },
    .number("priority") { $0.attributes.priority },
    Field(name: "attributes") {
      $0.attributes.write(key: "attributes", to: &$1)
    } cell: {
      $0.attributes.json
    },
    .text("section") { $0.origin.section },
    .number("index") { $0.origin.index },
    .hexadecimal("address") { $0.origin.address.rawValue },
    .hexadecimal("offset") { $0.origin.offset?.rawValue },
    .text("encoding") { $0.encoding.rawValue },
    .text("resolution") { $0.resolution.rawValue },
    .text("accessor") { $0.accessorName },
  ]

  /// What must be there, and which entries are shown.
  var wanted = Wanted()

  var emptyNote: String { wanted.isSelection ? "no such entries" : "no entries" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [Record] {
    let scan = try found.image.scanEntries()
    found.problems += scan.rejections.map { ImageError($0) }
    guard !wanted.isEmpty else { return scan.records }
    return scan.records.filter { record in
      let isShown = wanted.sees(record.name, of: record.kind.description)
      return isShown || !wanted.isSelection
    }
  }

  static let titles = ["KIND", "NAME", "IMPLEMENTATION", "ATTRIBUTES", "WHERE"]

  static func cells(of record: Record) -> [String] {
    [
      record.kind.description, record.name, record.implementation ?? "–",
      record.attributes.words, record.place,
    ]
  }
}
