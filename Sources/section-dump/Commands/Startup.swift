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

/// The steps of each image.
struct StartupDump: Dump {
  static let contentKey: StaticString = "startup"
  static let columns = ["when", "index", "name", "address", "note"]

  var emptyNote: String { "nothing runs" }
  var skippedNote: String { "not linked, or no ELF files" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [StartupStep] {
    guard let file = found.image as? ELFFile else {
      throw ImageError(
        .noEntries, image: found.image.identity.path,
        message: "What runs at startup is read of ELF files alone.")
    }
    let (steps, problems) = try file.startup()
    found.problems += problems
    return steps
  }

  func write(_ step: StartupStep, of found: ReadImage, to json: inout JSONWriter) {
    json.object { json in
      json.string(key: "when", step.kind.rawValue)
      json.number(key: "index", step.index)
      json.string(key: "name", step.name)
      json.hexadecimal(key: "address", step.address)
      json.string(key: "note", step.note)
    }
  }

  func writeRows(_ step: StartupStep, of found: ReadImage, _ row: ([String]) -> Void) {
    row([
      step.kind.rawValue, step.index.map(String.init) ?? "", step.name ?? "",
      step.address?.hexadecimal ?? "", step.note ?? "",
    ])
  }

  func writeTable(_ steps: [StartupStep], of found: ReadImage, to sink: ByteSink, _ style: Style) {
    var table = Table(["WHEN", "WHAT", "WHERE"])
    for step in steps {
      let place = step.address.map(\.hexadecimal) ?? ""
      let note = step.note.map { "(\($0))" } ?? ""
      table.add([
        step.kind.rawValue + (step.index.map { "[\($0)]" } ?? ""), step.name ?? "–",
        [place, note].filter { !$0.isEmpty }.joined(separator: " "),
      ])
    }
    table.write(to: sink, style)
  }
}
