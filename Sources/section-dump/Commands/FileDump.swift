internal import ArgumentParser
internal import BinaryImage
internal import ObjectFiles

/// A command that shows something of each image of the named files.
protocol FileDump: Dump {
  /// The names that the files should have, and whether they were found so far.
  var wanted: Wanted { get set }
  /// A name for the files that were found and left out.
  var skippedNote: String { get }

  /// Finds what is to be shown.
  mutating func read(_ found: ReadFile) throws(ImageError) -> [Element]
}

/// An image of a file that was opened.
final class ReadFile: ReadImage {
  let image: any FileImage
  /// The size of the entries that were read.
  var entrySize = 0

  init(_ place: Place, _ image: any FileImage) {
    self.image = image
    super.init(place)
  }

  override var identity: ImageIdentity? { image.identity }
}

extension FileDump {
  /// The files of a directory that are no object files.
  var skippedNote: String { "no object files" }

  /// Nothing where a command has no such option.
  var wanted: Wanted {
    get { Wanted() }
    set {}
  }

  /// Reads the inputs, prints what is shown of each in their order, and answers the exit status: 2 where an input
  /// could not be read, else 1 if no file has something that was named, else 0.
  func show(_ inputs: Inputs, in output: Presentation) -> ExitCode {
    let printer = Printer(output.format)
    printer.begin { csv in
      writeImage(nil, to: &csv)
      Self.writeColumns(to: &csv)
    }
    var sums = ReportSums()
    sums.wanted = wanted
    let passed = inputs.read { files, handOn in
      var part = ReportPart()
      let writer = ImageWriter<Self>(output) { piece in
        part.add(piece)
        if part.size >= 1 << 20 { handOn(part.take()) }
      }
      var reports = FileReports(dump: self, inputs: inputs, writer: writer)
      for file in files { reports.read(file) }
      part.sums = reports.finish()
      return part
    } take: { part in
      for piece in part.output { printer.take(piece) }
      if let more = part.sums { sums.add(more) }
    }
    if output.format == .table {
      writeSummary(sums, passed, isSingle: inputs.isSingle, to: printer.output, output.style)
    } else {
      if sums.skipped > 0 { printer.errors.say("\(sums.skipped) skipped (\(skippedNote))") }
      if let note = passed.note { printer.errors.say(note) }
    }
    // Where nothing could be read, a name may be there.
    let complaints = sums.hasProblems && !sums.hasRead ? [] : sums.wanted.complaints
    for complaint in complaints { printer.errors.say(complaint) }
    let isWritten = printer.finish()
    if sums.hasProblems || !isWritten { return ExitCode(2) }
    return complaints.isEmpty ? .success : ExitCode(1)
  }

  private func writeSummary(
    _ sums: ReportSums, _ passed: Inputs.PassedOver, isSingle: Bool, to sink: ByteSink,
    _ style: Style
  ) {
    let (shown, empty, skipped, unread) = (sums.shown, sums.empty, sums.skipped, sums.unread)
    guard !isSingle || sums.holdsMany, empty + skipped + unread + passed.irregular > 0
    else { return }
    var parts = ["\((shown + empty + unread).counted("file")): \(shown) shown"]
    if unread > 0 { parts.append("\(unread) not read") }
    if empty > 0 { parts.append("\(empty) \(emptyNote)") }
    if skipped > 0 { parts.append("\(skipped) skipped (\(skippedNote))") }
    if let note = passed.note { parts.append(note) }
    if shown > 0 { sink.write(word: "\n") }
    sink.write(style.dim(parts.joined(separator: ", ")) + "\n")
  }
}

/// The sums of the reports of some files.
struct ReportSums: Sendable, Codable {
  var (shown, empty, skipped, unread) = (0, 0, 0, 0)
  var hasProblems = false
  /// Whether the contents of a file could be read.
  var hasRead = false
  var holdsMany = false
  /// The wanted names, and whether these files have them.
  var wanted = Wanted()

  /// Whether a child may have counted this.
  var isSensible: Bool {
    [shown, empty, skipped, unread].allSatisfy(ReportPart.counts.contains)
  }

  /// Adds what further files amount to; what is looked for is in one of all.
  mutating func add(_ other: Self) {
    shown += other.shown
    empty += other.empty
    skipped += other.skipped
    unread += other.unread
    hasProblems = hasProblems || other.hasProblems
    hasRead = hasRead || other.hasRead
    holdsMany = holdsMany || other.holdsMany
    wanted.add(other.wanted)
  }
}

/// A part of the report of the files that are read.
struct ReportPart: Reported {
  private(set) var output: [Piece] = []
  private(set) var size = 0
  /// Nil in all but the last part.
  var sums: ReportSums?

  init() {}

  init?(_ pieces: [Piece], of _: Result<Input, ImageError>) {
    output = pieces.filter { $0.kind != .sums }
    sums = pieces.last.flatMap { try? ReportSums(coded: $0.bytes) }
    guard sums?.isSensible ?? false else { return nil }
  }

  var pieces: [Piece] {
    output + (sums?.coded.map { [Piece(kind: .sums, bytes: $0)] } ?? [])
  }

  mutating func add(_ piece: Piece) {
    output.append(piece)
    size += piece.bytes.count
  }

  /// Returns what there is so far, and keeps nothing of it.
  mutating func take() -> Self {
    defer { self = Self() }
    return self
  }
}

/// Reads files one after another and says, in pieces, what a command shows of them.
private struct FileReports<Shown: FileDump> {
  var dump: Shown
  let inputs: Inputs
  var writer: ImageWriter<Shown>

  /// Hands on what was not handed on yet, and returns what all amount to.
  func finish() -> ReportSums {
    writer.text.flush()
    var sums = writer.sums
    sums.wanted = dump.wanted
    return sums
  }

  /// Reports one file, or why there is none.
  mutating func read(_ file: Result<Input, ImageError>) {
    switch file {
    case .success(let input): read(input)
    case .failure(let error): showNothing(at: Place(path: error.image), error)
    }
  }

  private mutating func read(_ input: Input) {
    var (isShown, refusal): (Bool, ImageError?) = (false, nil)
    dump.wanted.looksForSimilar = input.isAmongFirst
    input.forEachImage(architecture: inputs.architecture) { found in
      if !found.container.isEmpty { writer.sums.holdsMany = true }
      let place = input.place(in: found.container)
      do throws(ImageError) {
        let found = ReadFile(place, try found.image.get())
        if input.isFound { try found.image.refuseCore() }
        let contents = try contents(of: found, of: input)
        let isAlone = inputs.isSingle && place.container.isEmpty
        writer.show(dump, found, contents, isAlone: isAlone)
        isShown = true
        return found.entrySize
      } catch {
        if input.mayOmit(error, in: place.container) {
          writer.sums.skipped += 1
          if error.code == .noEntries { refusal = refusal ?? error }
        } else {
          showNothing(at: place, error)
          isShown = true
        }
        return 0
      }
    }
    // What was named, and has nothing that the command reads, is no empty result.
    if let refusal, !isShown, !input.isFound { showNothing(at: input.place(), refusal) }
  }

  private mutating func showNothing(at place: Place, _ error: ImageError) {
    writer.show(dump, ReadImage(place, problems: [error]), nil)
  }

  /// Returns the contents to show; nil if they cannot be read. Throws if the image may be left out.
  private mutating func contents(
    of found: ReadFile, of input: Input
  ) throws(ImageError) -> [Shown.Element]? {
    var elements: [Shown.Element]?
    do throws(ImageError) {
      elements = try dump.read(found)
    } catch {
      if input.mayOmit(error, in: found.place.container) { throw error }
      found.problems.append(error)
    }
    if found.image.checkExtents(&found.problems), elements != nil { writer.sums.hasRead = true }
    return elements
  }
}
