internal import ArgumentParser
internal import BinaryImage
internal import SwiftMetadata

/// `section-dump conformances PATH…`: shows the Swift types of each file and the protocols that they conform to.
struct Conformances: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conformances",
    abstract: "Shows which Swift types declare to conform to a protocol.",
    discussion: """
      Reads the tables that the compiler writes for the runtime. Stripped files have them too, and no entry is needed. \
      Does not list subclasses that inherit a conformance, because the compiler writes nothing about them.
      """)

  @Option(
    name: .customLong("to"),
    help: ArgumentHelp(
      "Show only conformances to this protocol, with or without its module's name; * and ? are wildcards. May be "
        + "repeated.", valueName: "protocol"))
  var protocols: [String] = []

  @OptionGroup var files: FileOptions

  func run() throws {
    let wanted = Wanted(patterns: [("protocol", protocols)])
    try files.show(
      ImageListing(
        key: "conformances",
        emptyNote: wanted.isSelection ? "no such conformances" : "no conformances",
        skippedNote: "not linked", wanted: wanted, read: FileTables.Conformance.read))
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

  /// Finds the conformances of an image to the wanted protocols.
  static func read(
    _ image: any FileImage, _: ReadImage, _ wanted: inout Wanted
  ) throws(ImageError) -> [Self] {
    var conformances: [Self] = []
    try FileTables([.conformances], of: image)?.forEachConformance { conformance in
      var isShown = !wanted.isSelection
      var rest = conformance.protocol.name[...]
      // All names are compared, with and without their modules, because they may resemble wanted ones.
      while wanted.isSelection {
        if wanted.sees(String(rest), of: "protocol") { isShown = true }
        guard let dot = rest.firstIndex(of: ".") else { break }
        rest = rest[rest.index(after: dot)...]
      }
      if isShown { conformances.append(conformance) }
    }
    return conformances
  }
}
