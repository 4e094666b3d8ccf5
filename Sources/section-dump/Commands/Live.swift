internal import ArgumentParser
internal import BinaryImage
internal import ObjectFiles
internal import Registration

/// `section-dump live --pid N`, `--core FILE`: what the images that a process has mapped offer.
struct Live: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live",
    abstract: "Shows what the images in a running process or a core file offer.",
    discussion: """
      A running process is neither stopped nor changed. Core files leave out what the files of the \
      images have: those are read where their build-id is that of the image. Images without entries are left out of tables. \
      Where the process has a Hive, each entry's state is told: bound, accepted (nothing can make it \
      yet, or nothing has needed it so far), rejected or withdrawn, and why; null in JSON where it has none. A bound module that does \
      not run has a code: disabled, failed, starting or not-started; and one that runs though a step \
      of its start failed: started. Targets and routes are bound until the process uses its routing, \
      which alone can tell whether their types and actions are there. \
      Exit status: 0 everything was read, 2 the process or one of its images could not be, or it has \
      a second runtime.
      """)

  @Option(
    help: ArgumentHelp("The process to read.", valueName: "number"),
    completion: .shellCommand("ps -e -o pid= | tr -d ' '"))
  var pid: Int?

  @Option(
    help: ArgumentHelp("The core file of a process, to read in its place.", valueName: "file"),
    completion: .file())
  var core: String?

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (pid == nil) != (core == nil) else {
      throw ValidationError("Give either --pid or --core.")
    }
    guard (1...Int(Int32.max)).contains(pid ?? 1) else {
      throw ValidationError("--pid must be the number of a process.")
    }
  }

  func run() throws {
    let process = Result { () throws(ImageError) in
      if let core { return try RemoteProcess(core: core) }
      return try RemoteProcess(pid: pid ?? 0)
    }
    var report = LiveReport(pid: pid, process, output.values)
    try report().end()
  }
}

/// The images of a process, one after another.
private struct LiveReport {
  private let pid: Int?
  private let process: Result<RemoteProcess, ImageError>
  private let output: Presentation
  private let printer: Printer
  private let stream: PieceStream
  private var json: JSONWriter
  private var hasProblems = false
  private var (shown, empty) = (0, 0)
  /// What the process's Hive made of the entries, where it has one.
  private var states: EntryStates?

  init(pid: Int?, _ process: Result<RemoteProcess, ImageError>, _ output: Presentation) {
    self.process = process
    self.pid = pid ?? (try? process.get())?.pid
    self.output = output
    printer = Printer(output.format)
    stream = PieceStream(printer)
    json = JSONWriter(stream.text)
  }

  private static let columns =
    ["pid", "path", "mapped", "deleted", "replaced"] + RecordDump.columns
    + FieldNames { EntryStates.writeFields(of: nil, to: &$0) }.names

  mutating func callAsFunction() -> ExitCode {
    printer.begin(Self.columns, "\"pid\":\(pid.map(String.init) ?? "null"),")
    do throws(ImageError) {
      let process = try process.get()
      var images = process.images.map { Found($0, of: process) }
      Found.compareRuntimes(of: &images)
      states = images.lazy.compactMap(\.states).first
      for image in images { show(image) }
      if let shortage = process.shortage { report([shortage], path: shortage.image) }
      if output.format == .table { writeSummary() }
    } catch {
      report([error], path: error.image)
    }
    stream.text.flush()
    let isWritten = printer.finish()
    return hasProblems || !isWritten ? ExitCode(2) : .success
  }

  private func writeSummary() {
    if shown > 0 { stream.text.write(word: "\n") }
    let sums =
      "\((shown + empty).counted("image")): \(shown) shown, \(empty) no entries"
      + (states == nil ? "; no Hive" : "")
    stream.text.write(output.style.dim(sums) + "\n")
  }

  private mutating func show(_ found: Found) {
    let (mapping, text) = (found.mapping, stream.text)
    var problems = found.problems
    let place = Place(path: mapping.path, pathBytes: mapping.pathBytes)
    var identity: ImageIdentity?
    var records: [LiveRecord] = []
    do throws(ImageError) {
      let image = try found.image.get()
      identity = image.identity
      let scan = try RecordScanner.scan(image)
      records = scan.records.map { LiveRecord(record: $0, entry: states?.entry(of: $0, in: image)) }
      problems += scan.rejections.map { ImageError($0) }
    } catch {
      // A file that is mapped and may run need not be an image.
      if error.code == .notAnObject { return }
      problems.append(error)
    }
    let hasNothing = records.isEmpty && problems.isEmpty
    switch output.format {
    case .json, .ndjson:
      stream.send(.item)
      json.object { json in
        if output.format == .ndjson { json.number(key: "pid", pid) }
        place.write(identity, to: &json)
        json.hexadecimal(key: "mapped", mapping.base)
        json.boolean(key: "deleted", mapping.isDeleted)
        json.boolean(key: "replaced", mapping.isReplaced)
        json.array(key: "records", records) { $0.write(to: &$1) }
        json.array(key: "problems", problems) { $0.write(to: &$1) }
      }
      if output.format == .ndjson { json.lineBreak() }
    case .csv:
      for record in records {
        var csv = CSVWriter(text)
        csv.number(key: "pid", pid)
        csv.string(key: "path", mapping.path)
        csv.hexadecimal(key: "mapped", mapping.base)
        csv.string(key: "deleted", String(mapping.isDeleted))
        csv.string(key: "replaced", String(mapping.isReplaced))
        RecordDump.writeFields(of: record.record, to: &csv)
        EntryStates.writeFields(of: record.entry, to: &csv)
        csv.endRow()
      }
    case .table where hasNothing: empty += 1
    case .table:
      stream.send(.item)
      place.writeHeading(of: identity, to: text, output.style)
      text.write(
        "  mapped at \(mapping.base.hexadecimal)"
          + (mapping.isReplaced ? ", replaced since" : mapping.isDeleted ? ", deleted since" : "")
          + "\n")
      LiveRecord.writeTable(of: records, withStates: states != nil, to: text, output.style)
    }
    if !hasNothing { shown += 1 }
    report(problems, path: mapping.path)
  }

  private mutating func report(_ problems: [ImageError], path: String) {
    if !problems.isEmpty { hasProblems = true }
    stream.report(problems, path: path)
  }
}

/// An image of the process, its headers read.
private struct Found {
  let mapping: RemoteMapping
  let image: Result<RemoteImage, ImageError>
  /// What the runtime in it says of all entries of the process.
  private(set) var states: EntryStates?
  private(set) var problems: [ImageError] = []

  init(_ mapping: RemoteMapping, of process: RemoteProcess) {
    self.mapping = mapping
    image = Result { () throws(ImageError) in try process.image(mapping) }
    do throws(ImageError) {
      states = try (try? image.get())?.entryStates()
    } catch {
      problems.append(error)
    }
  }

  /// Finds the images that carry a runtime beside the one that is used, or else the first.
  static func compareRuntimes(of images: inout [Found]) {
    let carriers = images.indices.filter { (try? images[$0].image.get())?.carriesRuntime ?? false }
    let used = carriers.first { images[$0].states != nil } ?? carriers.first
    for index in carriers where index != used {
      images[index].problems.append(.secondRuntime(in: images[index].mapping.path))
    }
  }
}
