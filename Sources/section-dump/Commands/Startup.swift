internal import ArgumentParser
internal import BinaryImage

/// `section-dump startup PATH…`: what runs of each file before anybody calls it.
struct Startup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "startup",
    abstract: "Shows what a linked file runs when it is loaded, in the loader's order.",
    discussion: """
      Libraries that come along, memory of threads, functions that choose addresses while the file is \
      relocated (ifunc), then constructors, then what runs when the file is closed. What its libraries \
      run is their own: name them too.
      """)

  @OptionGroup var files: FileOptions

  func run() throws { try files.show(StartupDump()) }
}

extension StartupStep: Tabled {
  static let titles = ["WHEN", "WHAT", "WHERE"]

  static func writeFields(of step: Self?, to writer: inout FieldWriter) {
    writer.string(key: "when", step?.kind.rawValue)
    writer.number(key: "index", step?.index)
    writer.string(key: "name", step?.name)
    writer.hexadecimal(key: "address", step?.address)
    writer.message(key: "note", step?.note)
  }

  func addCells(to table: inout Table) {
    table.cell(kind.rawValue + (index.map { "[\($0)]" } ?? ""))
    table.cell(name)
    table.cell(
      message: [address?.hexadecimal, note.map { "(\($0))" }].compactMap { $0 }
        .joined(separator: " "))
  }
}

/// The steps of each image.
struct StartupDump: FileDump {
  typealias Element = StartupStep

  static let contentKey: StaticString = "startup"

  var emptyNote: String { "nothing runs" }
  var skippedNote: String { "not linked, or no ELF files" }

  func read(_ found: ReadFile) throws(ImageError) -> [StartupStep] {
    guard let file = found.image as? ELFFile else {
      throw found.image.error(.noEntries, "What runs at startup is read of ELF files alone.")
    }
    let (steps, problems) = try file.startup()
    found.problems += problems
    return steps
  }
}
