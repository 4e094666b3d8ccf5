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
      "Show conformances to this protocol alone, with or without its module's name; * and ? are wildcards. May be "
        + "repeated.", valueName: "protocol"))
  var protocols: [String] = []

  @OptionGroup var files: FileOptions

  func run() throws {
    try files.show(ConformanceDump(wanted: Wanted(patterns: [("protocol", protocols)])))
  }
}

extension FileTables.Conformance: Tabled {
  static let titles = ["TYPE", "PROTOCOL", "HOW"]

  static func writeFields(of conformance: Self?, to writer: inout FieldWriter) {
    writer.string(key: "type", conformance?.type.name)
    writer.string(key: "protocol", conformance?.protocol.name)
    writer.string(key: "symbol", conformance?.protocol.symbol)
    writer.list(key: "how", conformance?.how ?? [], separator: " ")
  }

  func addCells(to table: inout Table) {
    table.cell(type.name)
    table.cell(`protocol`.name)
    table.cell(how.joined(separator: ", "))
  }
}

/// The conformances of each image.
struct ConformanceDump: FileDump {
  typealias Element = FileTables.Conformance

  static let contentKey: StaticString = "conformances"

  /// The protocols that are asked for; empty for all.
  var wanted: Wanted

  var emptyNote: String { wanted.isSelection ? "no such conformances" : "no conformances" }
  var skippedNote: String { "not linked" }

  mutating func read(_ found: ReadFile) throws(ImageError) -> [FileTables.Conformance] {
    var conformances: [FileTables.Conformance] = []
    try FileTables([.conformances], of: found.image)?.forEachConformance { conformance in
      if !wanted.isSelection || isWanted(conformance.protocol.name) {
        conformances.append(conformance)
      }
    }
    return conformances
  }

  /// Whether a name is asked for, with or without what it is qualified with.
  private mutating func isWanted(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    // All are looked at, since they may be similar to what is wanted.
    let isWanted = parts.indices.map { start in
      wanted.sees(parts[start...].joined(separator: "."), of: "protocol")
    }
    return isWanted.contains(true)
  }
}
