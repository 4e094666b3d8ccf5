internal import ArgumentParser
internal import BinaryImage

/// `section-dump startup PATH…`: shows what each file runs before anybody calls it.
struct Startup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "startup",
    abstract: "Shows what a linked file runs when it is loaded, in the loader's order.",
    discussion: """
      Shows the libraries that are loaded with the file, memory of threads, functions that choose addresses while \
      the file is relocated (ifunc), constructors, and last the functions that run when the file is closed. To see \
      what the libraries run, name them too.
      """)

  @OptionGroup var files: FileOptions

  func run() throws {
    try files.show(
      ImageListing(
        key: "startup", emptyNote: "nothing runs", skippedNote: "not linked",
        read: StartupStep.read))
  }
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

  /// Finds the steps of an image.
  static func read(
    _ image: any FileImage, _ found: ReadImage, _: inout Wanted
  ) throws(ImageError) -> [StartupStep] {
    let (steps, problems) = try image.startup()
    found.problems += problems
    return steps
  }
}
