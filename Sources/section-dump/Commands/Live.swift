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
    var writer = ImageWriter<LiveDump>(output, printer.take)
    var dump = LiveDump(pid: pid)
    printer.begin("\"pid\":\(pid.map(String.init) ?? "null"),") { csv in
      dump.writeImage(nil, to: &csv)
      LiveDump.writeColumns(to: &csv)
    }
    do throws(ImageError) {
      let process = try process.get()
      let images = process.images.map { LiveImage($0, of: process) }
      LiveImage.compareRuntimes(of: images)
      dump.states = images.lazy.compactMap(\.states).first
      var count = 0
      var room = process.coreSize.map { Scan.leastRoom + Scan.room(in: $0) } ?? .max
      for image in images {
        guard let records = image.read(dump.states, &room) else { continue }
        count += 1
        writer.show(dump, image, records, isAlone: !image.problems.isEmpty)
      }
      if let shortage = process.shortage { writer.note(shortage) }
      writer.text.flush()
      if output.format == .table {
        let shown = writer.sums.shown
        let sums =
          "\(count.counted("image")): \(shown) shown, \(count - shown) no entries"
          + (dump.states == nil ? "; no Hive" : "")
        printer.output.write((shown > 0 ? "\n" : "") + output.style.dim(sums) + "\n")
      }
    } catch {
      writer.note(error)
    }
    if !printer.finish() || writer.sums.hasProblems { throw ExitCode(2) }
  }
}

/// The view of the images of a process.
private struct LiveDump: Dump {
  static let contentKey: StaticString = "records"
  let pid: Int?
  /// What the process's Hive made of the entries, where it has one.
  var states: EntryStates?

  var emptyNote: String { "no entries" }

  func writeHead(to json: inout FieldWriter, of found: ReadImage, _ format: Presentation.Format) {
    if format == .ndjson { json.number(key: "pid", pid) }
    found.place.write(found.identity, to: &json)
    Self.write((found as? LiveImage)?.mapping, to: &json)
  }

  func writeHeadline(of found: ReadImage, to sink: ByteSink) {
    guard let mapping = (found as? LiveImage)?.mapping else { return }
    let fate = mapping.isReplaced ? ", replaced since" : mapping.isDeleted ? ", deleted since" : ""
    sink.write("  mapped at \(mapping.base.hexadecimal)\(fate)")
  }

  func writeImage(_ found: ReadImage?, to csv: inout FieldWriter) {
    csv.number(key: "pid", found == nil ? nil : pid)
    csv.string(key: "path", found?.place.path)
    Self.write((found as? LiveImage)?.mapping, to: &csv)
  }

  private static func write(_ mapping: RemoteMapping?, to writer: inout FieldWriter) {
    writer.hexadecimal(key: "mapped", mapping?.base)
    writer.boolean(key: "deleted", mapping?.isDeleted)
    writer.boolean(key: "replaced", mapping?.isReplaced)
  }

  /// Writes the states before each entry and the reasons behind where there are any.
  func writeTable(
    _ records: [LiveRecord], of _: ReadImage, to sink: ByteSink, _ style: Style
  ) {
    let hasStates = states != nil
    var table = Table(
      (hasStates ? ["STATE"] : []) + Record.titles + (hasStates ? ["REASON"] : []), to: sink, style)
    for record in records {
      // Of a bound module that does not run, the reason.
      let code = record.entry?.state == .bound ? record.entry?.code : nil
      if hasStates { table.cell(code ?? record.entry?.state.rawValue) }
      record.record.addCells(to: &table)
      if hasStates { table.cell(message: record.entry?.reason ?? "") }
    }
    table.writeRows()
  }
}

/// An entry of a running process, and what its Hive made of it.
private struct LiveRecord: Listed {
  let record: Record
  /// Nil where the process does not say; kinds of third parties are registered by no Hive.
  let entry: EntryStates.Entry?

  init(_ record: Record, in image: RemoteImage, _ states: EntryStates?) {
    self.record = record
    let origin = record.origin
    entry =
      record.kind.isThirdParty
      ? nil
      : states?[origin.index, in: origin.section, of: image, isModule: record.kind == .module]
  }

  static func writeFields(of record: Self?, to writer: inout FieldWriter) {
    Record.writeFields(of: record?.record, to: &writer)
    writer.string(key: "state", record?.entry?.state.rawValue)
    writer.string(key: "code", record?.entry?.code)
    writer.message(key: "reason", record?.entry?.reason)
  }
}

/// An image of the process. There may be thousands, so the headers of one are kept only while they are looked at.
private final class LiveImage: ReadImage {
  let mapping: RemoteMapping
  /// What the runtime in it says of all entries of the process.
  private(set) var states: EntryStates?
  private var (carriesRuntime, known): (Bool, ImageIdentity?) = (false, nil)
  private let process: RemoteProcess

  init(_ mapping: RemoteMapping, of process: RemoteProcess) {
    // The reader of its entries reports what cannot be read.
    let image = try? process.image(mapping)
    (self.mapping, self.process) = (image?.mapping ?? mapping, process)
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
      return scan.records.map { LiveRecord($0, in: image, states) }
    } catch {
      if error.code == .notAnObject { return nil }
      problems.append(error)
      return []
    }
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
