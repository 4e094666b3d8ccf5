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
      return try RemoteProcess(pid: self.pid ?? 0)
    }
    let (pid, output) = (self.pid ?? (try? process.get())?.pid, self.output.values)
    let printer = Printer(output.format)
    var writer = ImageWriter<LiveRecord>(
      output, key: "records", emptyNote: "no entries", printer.take)
    printer.begin("\"pid\":\(pid.map(String.init) ?? "null"),") { csv in
      LiveImage.writeFile(of: nil, to: &csv)
      LiveRecord.writeFields(of: nil, to: &csv)
    }
    do throws(ImageError) {
      let process = try process.get()
      let images = process.images.map { LiveImage($0, of: process, pid) }
      LiveImage.compareRuntimes(of: images)
      let states = images.lazy.compactMap(\.states).first
      var count = 0
      var room = process.coreSize.map { Scan.leastRoom + Scan.room(in: $0) } ?? .max
      for image in images {
        guard let records = image.read(states, &room) else { continue }
        count += 1
        writer.show(image, records, isAlone: !image.problems.isEmpty)
      }
      if let shortage = process.shortage { writer.report([shortage], path: shortage.image) }
      writer.text.flush()
      if output.format == .table {
        let shown = writer.sums[.shown]
        let sums =
          "\(count.counted("image")): \(shown) shown, \(count - shown) no entries"
          + (states == nil ? "; no Hive" : "")
        printer.output.write((shown > 0 ? "\n" : "") + output.style.dim(sums) + "\n")
      }
    } catch {
      writer.report([error], path: error.image)
    }
    if !printer.finish() || writer.sums[.failed] > 0 { throw ExitCode(2) }
  }
}

/// An entry of a running process, and what its Hive made of it.
private struct LiveRecord: Tabled {
  static let titles = Record.titles

  let record: Record
  /// Whether the process says what became of its entries.
  let hasStates: Bool
  /// Nil where the process does not say; kinds of third parties are registered by no Hive.
  let entry: EntryStates.Entry?

  static func writeFields(of record: Self?, to writer: inout FieldWriter) {
    Record.writeFields(of: record?.record, to: &writer)
    writer.string(key: "state", record?.entry?.state.rawValue)
    writer.string(key: "code", record?.entry?.code)
    writer.message(key: "reason", record?.entry?.reason)
  }

  /// Adds the state before the entry and the reason behind it, where there are any.
  func addCells(to table: inout Table) {
    // Of a bound module that does not run, the reason.
    let code = entry?.state == .bound ? entry?.code : nil
    if hasStates { table.cell(code ?? entry?.state.rawValue) }
    record.addCells(to: &table)
    if hasStates { table.cell(message: entry?.reason ?? "") }
  }

  static func writeTable(_ records: [Self], to sink: ByteSink, _ style: Style) {
    let hasStates = records.contains(where: \.hasStates)
    var table = Table(hasStates ? ["STATE"] + titles + ["REASON"] : titles, to: sink, style)
    for record in records { record.addCells(to: &table) }
    table.writeRows()
  }
}

/// An image of the process. There may be thousands, so the headers of one are kept only while they are looked at.
private final class LiveImage: ReadImage {
  let mapping: RemoteMapping
  /// What the runtime in it says of all entries of the process.
  private(set) var states: EntryStates?
  private var (carriesRuntime, known): (Bool, ImageIdentity?) = (false, nil)
  private let process: RemoteProcess
  private let pid: Int?

  init(_ mapping: RemoteMapping, of process: RemoteProcess, _ pid: Int?) {
    // The reader of its entries reports what cannot be read.
    let image = try? process.image(mapping)
    (self.mapping, self.process, self.pid) = (image?.mapping ?? mapping, process, pid)
    super.init(Place(path: self.mapping.path, pathBytes: self.mapping.pathBytes))
    guard let image else { return }
    carriesRuntime = image.carriesRuntime
    do throws(ImageError) {
      states = try image.entryStates()
    } catch {
      problems.append(error)
    }
  }

  override var identity: ImageIdentity? { known }

  /// Returns the entries; nil for a file that is mapped and may run, and is no image.
  func read(_ states: EntryStates?, _ room: inout Int) -> [LiveRecord]? {
    do throws(ImageError) {
      let image = try process.image(mapping)
      known = image.identity
      guard room > 0 else { throw ImageError.noRoom(in: image.path) }
      let scan = try RecordScanner.scan(image)
      if room < .max { room -= scan.size(in: place) + image.bytesRead }
      problems += scan.rejections.map { ImageError($0) }
      return scan.records.map { record in
        let origin = record.origin
        let entry = states?[
          origin.index, in: origin.section, of: image, isModule: record.kind == .module]
        return LiveRecord(
          record: record, hasStates: states != nil, entry: record.kind.isThirdParty ? nil : entry)
      }
    } catch {
      if error.code == .notAnObject { return nil }
      problems.append(error)
      return []
    }
  }

  override func writeHead(to json: inout FieldWriter, _ format: Presentation.Format) {
    if format == .ndjson { json.number(key: "pid", pid) }
    super.writeHead(to: &json, format)
    Self.writeMapping(of: self, to: &json)
  }

  override func writeHeadline(to sink: ByteSink) {
    let fate = mapping.isReplaced ? ", replaced since" : mapping.isDeleted ? ", deleted since" : ""
    sink.write("  mapped at \(mapping.base.hexadecimal)\(fate)")
  }

  override func writeFile(to csv: inout FieldWriter) { Self.writeFile(of: self, to: &csv) }

  /// Writes the fields that each row of CSV begins with; without an image, the same fields.
  static func writeFile(of image: LiveImage?, to csv: inout FieldWriter) {
    csv.number(key: "pid", image?.pid)
    csv.string(key: "path", image?.place.path)
    writeMapping(of: image, to: &csv)
  }

  private static func writeMapping(of image: LiveImage?, to writer: inout FieldWriter) {
    writer.hexadecimal(key: "mapped", image?.mapping.base)
    writer.boolean(key: "deleted", image?.mapping.isDeleted)
    writer.boolean(key: "replaced", image?.mapping.isReplaced)
  }

  /// Finds the images that carry a runtime beside the one that is used, or else the first.
  static func compareRuntimes(of images: [LiveImage]) {
    let carriers = images.filter(\.carriesRuntime)
    let used = carriers.first { $0.states != nil } ?? carriers.first
    for image in carriers where image !== used {
      image.problems.append(.secondRuntime(in: image.mapping.path))
    }
  }
}
