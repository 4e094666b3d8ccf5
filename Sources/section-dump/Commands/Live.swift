internal import ArgumentParser
internal import BinaryImage
internal import ObjectFiles
internal import Registration

/// `section-dump live --pid N`, `--core FILE`: shows the entries of the images that a process has mapped.
struct Live: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live",
    abstract: "Shows what the images in a running process or a core file offer.",
    discussion: """
      A running process is neither stopped nor changed. Core files leave out parts that the image's file has; these \
      parts are read from the file if its build-id is that of the image. Tables leave out images without entries. \
      If the process has a Hive, each entry has a state and a reason: bound, accepted (nothing can make it yet, or \
      nothing has needed it so far), rejected or withdrawn. An entry without a state has null in JSON. A bound module \
      that does not run has a code: disabled, failed, starting or not-started. A module that runs although a step of \
      its start failed has the code started. Targets and routes are bound until the process uses its routing, because \
      only the routing can check their types and actions. Exit status: 0 everything was read, 2 the process or one of \
      its images could not be read, or the process has a second runtime.
      """)

  @Option(
    help: ArgumentHelp("The process to read.", valueName: "number"),
    completion: .shellCommand("ps -e -o pid= | tr -d ' '"))
  var pid: Int?

  @Option(
    help: ArgumentHelp("The core file to read instead of a running process.", valueName: "file"),
    completion: .file())
  var core: String?

  @OptionGroup var output: OutputOptions

  func validate() throws {
    try expect((pid == nil) != (core == nil), "Give either --pid or --core.")
    try expect(1...Int(Int32.max) ~= pid ?? 1, "--pid must be the number of a process.")
  }

  func run() throws {
    let process = Result { () throws(ImageError) in
      if let core { return try RemoteProcess(core: core) }
      return try RemoteProcess(pid: self.pid ?? 0)
    }
    let pid = self.pid ?? (try? process.get())?.pid
    let (format, style) = (output.format, output.style)
    let printer = Printer(format)
    var writer = ImageWriter<LiveRecord>(
      format, style, key: "records", emptyNote: "no entries", printer.take)
    printer.begin("\"pid\":\(pid.map(String.init) ?? "null"),") { csv in
      ReadImage.writeColumns(of: nil, to: &csv)
      LiveRecord.writeFields(of: nil, to: &csv)
    }
    do throws(ImageError) {
      let process = try process.get()
      let images = process.images.map { ProcessImage($0, of: process) }
      let states = images.lazy.compactMap(\.states).first
      let carriers = images.filter(\.carriesRuntime)
      let used = carriers.first { $0.states != nil } ?? carriers.first
      var count = 0
      var room = process.coreSize.map { Scan.leastRoom + Scan.room(in: $0) } ?? .max
      for known in images {
        var problems = known.problem.map { [$0] } ?? []
        if known.carriesRuntime, known.mapping.base != used?.mapping.base {
          problems.append(.secondRuntime(in: known.mapping.path))
        }
        var (image, records): (RemoteImage?, [LiveRecord]) = (nil, [])
        do throws(ImageError) {
          let opened = try process.image(known.mapping)
          image = opened
          records = try LiveRecord.read(opened, states, &room, &problems)
        } catch {
          // A mapped file that may run need not be an image.
          if error.code == .notAnObject { continue }
          problems.append(error)
        }
        count += 1
        let found = ReadImage(known.place, image, problems: problems, mapping: (pid, known.mapping))
        writer.show(found, records, isAlone: !problems.isEmpty)
      }
      if let shortage = process.shortage { writer.report([shortage], path: shortage.image) }
      writer.text.flush()
      if format == .table {
        let shown = writer.sums.shown
        let sums =
          "\(count.counted("image")): \(shown) shown, \(count - shown) no entries"
          + (states == nil ? "; no Hive" : "")
        printer.output.write((shown > 0 ? "\n" : "") + style.dim(sums) + "\n")
      }
    } catch {
      writer.report([error], path: error.image)
    }
    if !printer.finish() || writer.sums.failed > 0 { throw ExitCode(2) }
  }
}

/// An entry of a process, and its state in the Hive.
private struct LiveRecord: Tabled {
  static let titles = Record.titles

  let record: Record
  /// Whether the process has the states of its entries.
  let hasStates: Bool
  /// The state; nil if the process does not have it. No Hive registers identities or kinds of third parties.
  let entry: EntryStates.Entry?

  /// Reads the entries of an image while there is room, and adds their problems.
  static func read(
    _ image: RemoteImage, _ states: EntryStates?, _ room: inout Int, _ problems: inout [ImageError]
  ) throws(ImageError) -> [Self] {
    guard room > 0 else { throw ImageError.noRoom(in: image.path) }
    let scan = try Scan(of: image)
    if room < .max {
      room -= scan.size(in: Place(path: image.mapping.path)) + image.bytesRead
    }
    problems += scan.rejections.map { ImageError($0) }
    return scan.records.map { record in
      let origin = record.origin
      let entry = states?[
        origin.index, in: origin.section, of: image, isModule: record.kind == .module]
      return Self(
        record: record, hasStates: states != nil, entry: record.kind.isRegistered ? entry : nil)
    }
  }

  static func writeFields(of record: Self?, to writer: inout FieldWriter) {
    Record.writeFields(of: record?.record, to: &writer)
    writer.string(key: "state", record?.entry?.state.rawValue)
    writer.string(key: "code", record?.entry?.code)
    writer.message(key: "reason", record?.entry?.reason)
  }

  /// Adds the entry, with its state before it and the reason after it if the process has states.
  func addCells(to table: inout Table) {
    // A bound module that does not run shows its code instead of the state.
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

/// An image of the process, before its entries are read. Its headers are not kept, because there may be thousands.
private struct ProcessImage {
  let mapping: RemoteMapping
  /// The states of all entries of the process in the image's runtime, or the error of reading them.
  private(set) var states: EntryStates?
  private(set) var problem: ImageError?
  let carriesRuntime: Bool
  var place: Place { Place(path: mapping.path, pathBytes: mapping.pathBytes) }

  init(_ mapping: RemoteMapping, of process: RemoteProcess) {
    // Reading its entries reports the errors.
    let image = try? process.image(mapping)
    self.mapping = image?.mapping ?? mapping
    carriesRuntime = image?.carriesRuntime ?? false
    do throws(ImageError) {
      states = try image?.entryStates()
    } catch {
      problem = error
    }
  }
}

extension ReadImage {
  /// Writes the first fields of each row of CSV.
  func writeColumns(to csv: inout FieldWriter) {
    if mapping == nil { return Place.writeFile(of: place, to: &csv) }
    Self.writeColumns(of: self, to: &csv)
  }

  /// Writes the first fields for an image of a process; nil is for the header.
  fileprivate static func writeColumns(of image: ReadImage?, to csv: inout FieldWriter) {
    csv.number(key: "pid", image?.mapping?.pid)
    csv.string(key: "path", image?.place.path)
    writeMapping(image?.mapping?.image, to: &csv)
  }

  /// Writes the address of the mapping, and the state of its file.
  static func writeMapping(_ mapping: RemoteMapping?, to writer: inout FieldWriter) {
    writer.hexadecimal(key: "mapped", mapping?.base)
    writer.boolean(key: "deleted", mapping?.isDeleted)
    writer.boolean(key: "replaced", mapping?.isReplaced)
  }
}
