internal import ArgumentParser
internal import BinaryImage
internal import SwiftMetadata

/// `section-dump conformances PATH…`: which Swift types of each file conform to which protocols.
struct Conformances: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conformances",
    abstract: "Shows which Swift types declare to conform to a protocol.",
    discussion: """
      Reads what the compiler wrote for the runtime, which is in stripped files too; no entry is needed. \
      Subclasses of a class that conforms are not listed, since nothing is written of them.
      """)

  @Option(
    name: .customLong("to"),
    help: ArgumentHelp(
      "Show conformances to this protocol alone; Codec and Contracts.Codec name the same; may be repeated.",
      valueName: "protocol"))
  var protocols: [String] = []

  @OptionGroup var files: FileOptions

  func run() throws { try files.show(ConformanceDump(protocols: protocols)) }
}

/// The conformances of each image.
struct ConformanceDump: ListDump {
  static let contentKey: StaticString = "conformances"
  static let fields: [Field<FileTables.Conformance>] = [
    .text("type") { $0.type.name },
    .text("protocol") { $0.protocol.name },
    .text("symbol") { $0.protocol.symbol },
    Field(name: "how") {
      $1.array(key: "how", $0.how)
    } cell: {
      $0.how.joined(separator: " ")
    },
  ]
  static let titles = ["TYPE", "PROTOCOL", "HOW"]

  /// The protocols that are asked for, by their names; empty for all.
  let protocols: [String]

  var emptyNote: String { "no conformances" }
  var skippedNote: String { "not linked" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [FileTables.Conformance] {
    var conformances: [FileTables.Conformance] = []
    try FileTables([.conformances], of: found.image)?.forEachConformance { conformance in
      let name = conformance.protocol.name
      if protocols.isEmpty || protocols.contains(where: { name == $0 || name.hasSuffix("." + $0) })
      {
        conformances.append(conformance)
      }
    }
    return conformances
  }

  static func cells(of conformance: FileTables.Conformance) -> [String] {
    [conformance.type.name, conformance.protocol.name, conformance.how.joined(separator: ", ")]
  }
}
