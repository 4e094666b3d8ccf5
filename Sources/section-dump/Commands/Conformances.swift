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
struct ConformanceDump: Dump {
  static let contentKey: StaticString = "conformances"
  static let columns = ["type", "protocol", "symbol", "how"]

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

  func write(
    _ conformance: FileTables.Conformance, of found: ReadImage, to json: inout JSONWriter
  ) {
    json.object { json in
      json.string(key: "type", conformance.type.name)
      json.string(key: "protocol", conformance.protocol.name)
      json.string(key: "symbol", conformance.protocol.symbol)
      json.array(key: "how", conformance.how)
    }
  }

  func writeRows(
    _ conformance: FileTables.Conformance, of found: ReadImage, _ row: ([String]) -> Void
  ) {
    row([
      conformance.type.name, conformance.protocol.name, conformance.protocol.symbol ?? "",
      conformance.how.joined(separator: " "),
    ])
  }

  func writeTable(
    _ conformances: [FileTables.Conformance], of found: ReadImage, to sink: ByteSink, _ style: Style
  ) {
    var table = Table(["TYPE", "PROTOCOL", "HOW"])
    for conformance in conformances {
      table.add([
        conformance.type.name, conformance.protocol.name,
        conformance.how.joined(separator: ", "),
      ])
    }
    table.write(to: sink, style)
  }
}
