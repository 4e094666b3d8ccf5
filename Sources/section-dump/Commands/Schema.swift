internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump schema NAME`: prints the JSON Schema of a document.
struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Prints the JSON Schema of a document.",
    discussion: """
      Editors and validators use a schema to check documents: the output of a command with --format json, decision \
      tables, registration files, and plugins.json. Without a name, lists the schemas.
      """)

  @Argument(
    help: "The document: a command, or decision-table, registrations or switches.",
    completion: .list(documents.map(\.key)))
  var name: String?

  /// The files of Schemas. The title is the second line of each file's object.
  private static let documents: KeyValuePairs = [
    "records": PackageResources.records_json, "sections": PackageResources.sections_json,
    "hex": PackageResources.hex_json, "strings": PackageResources.strings_json,
    "verify": PackageResources.verify_json, "diff": PackageResources.diff_json,
    "graph": PackageResources.graph_json, "live": PackageResources.live_json,
    "startup": PackageResources.startup_json,
    "conformances": PackageResources.conformances_json, "why": PackageResources.why_json,
    "doctor": PackageResources.doctor_json, "probe": PackageResources.probe_json,
    "decision-table": PackageResources.decision_table_json,
    "registrations": PackageResources.registrations_json,
    "switches": PackageResources.switches_json,
  ]

  func run() throws {
    let names = Self.documents.map(\.key)
    let found = Self.documents.first { $0.key == name }
    try expect(
      name == nil || found != nil,
      "There is no schema \(name ?? ""); there are \(names.joined(separator: ", "))\(near(name ?? "", in: names))"
    )
    let rows = Self.documents.map { [$0.key, Self.title(of: $0.value)] }
    let text = found.map { Self.whole($0.value) } ?? rows.aligned().map { "\($0)\n" }.joined()
    try OutputOptions.print(isMissing: false, fails: false) { $0.write(text) }
  }

  private static func title(of file: [UInt8]) -> String {
    let line = file.split(separator: UInt8(ascii: "\n"))[2]
    return String(decoding: line.split(separator: UInt8(ascii: "\""))[3], as: UTF8.self)
  }

  /// Returns a schema with its shared parts, so that one file has all of it.
  private static func whole(_ file: [UInt8]) -> String {
    let prefix = "common.json"
    let text = String(decoding: file, as: UTF8.self)
    let own = text.split(separator: "\"", omittingEmptySubsequences: false).map {
      $0.hasPrefix(prefix) ? $0.dropFirst(prefix.count) : $0
    }
    .joined(separator: "\"")
    if own == text { return text }
    let shared = String(decoding: PackageResources.common_json, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    // Its first lines are the same in every schema.
    return own.dropLast("\n}\n".count) + ",\n" + shared.dropFirst(3).joined(separator: "\n")
  }
}
