internal import ArgumentParser
internal import BinaryImage

/// Reads the inputs, prints what a command shows of each in their order, and knows how it went.
struct DumpRun<Shown: Dump> {
  private typealias Sums = FileReports<Shown>.Sums

  /// What a thread hands on of the files that it reads.
  private struct Part: Sendable {
    var pieces: PackedPieces
    /// Nil in all but the last part.
    var sums: Sums?
  }

  let dump: Shown
  let inputs: Inputs
  let output: Presentation
  private let printer: Printer
  private var sums = Sums()

  init(_ dump: Shown, _ inputs: Inputs, _ output: Presentation) {
    self.dump = dump
    self.inputs = inputs
    self.output = output
    printer = Printer(output.format)
    sums.wanted = dump.wanted
  }

  /// Prints everything and answers the exit status: 2 where an input could not be read, else 1
  /// where something is asked for that no file has, else 0.
  mutating func callAsFunction() -> ExitCode {
    if inputs.child != nil, let status = ChildServer.serve(answer) { return status }
    let text = printer.output
    switch output.format {
    case .json: text.write("{\"schema\":1,\"files\":[")
    case .csv: CSV.write(["path", "container"] + Shown.columns, to: text)
    case .table, .ndjson: break
    }
    if inputs.jobs > 1 { readTogether() } else { readAlone() }
    if output.format == .json { text.write("\n]}\n") }
    if output.format == .table { writeSummary() }
    text.flush()
    if output.format != .table, sums.skipped > 0 {
      printer.errors.say("skipped, no object files: \(sums.skipped)")
    }
    let complaints = sums.wanted.complaints
    for complaint in complaints { printer.errors.say(complaint) }
    let isWritten = printer.finish()
    if sums.hasProblems || !isWritten { return ExitCode(2) }
    return complaints.isEmpty ? .success : ExitCode(1)
  }

  /// Reads one file for the process that has started this one.
  private func answer(_ request: Request) -> ExitCode {
    let sink = printer.output
    func put(_ piece: Piece, _ bytes: [UInt8]) {
      sink.write(PackedPieces.head(piece, size: bytes.count)[...])
      sink.write(bytes[...])
    }
    var inputs = inputs
    inputs.child = nil
    var output = output
    output.color = request.isColored ? .always : .never
    let stream = PieceStream(put)
    var reports = FileReports(dump, inputs, output, to: stream)
    reports.read(.success(request.input))
    guard let sums = reports.sums.bytes else { return ExitCode(2) }
    stream.send(.sums, sums)
    sink.flush()
    return sink.failure == 0 ? .success : ExitCode(2)
  }

  private mutating func readAlone() {
    let stream = PieceStream(printer.take)
    var reports = FileReports(dump, inputs, output, to: stream)
    inputs.forEach { file in
      reports.read(file)
      printer.progress.advance()
    }
    sums.add(reports.sums)
  }

  private mutating func readTogether() {
    let (dump, inputs, output, printer) = (dump, inputs, output, printer)
    var sums = sums
    let crew = Crew<Part>(jobs: inputs.jobs) { files, handOn in
      var pieces = PackedPieces()
      return withoutActuallyEscaping(handOn) { handOn in
        let stream = PieceStream { piece, bytes in
          pieces.add(piece, bytes)
          guard pieces.bytes.count >= 1 << 16 else { return }
          handOn(Part(pieces: pieces))
          pieces = PackedPieces()
        }
        var reports = FileReports(dump, inputs, output, to: stream)
        for file in files { reports.read(file) }
        return Part(pieces: pieces, sums: reports.sums)
      }
    } take: { part in
      part.pieces.forEach(printer.take)
      guard let more = part.sums else { return }
      sums.add(more)
      printer.progress.advance(by: more.files)
    }
    inputs.forEach(crew.add)
    crew.finish()
    self.sums = sums
  }

  private func writeSummary() {
    let (shown, empty, skipped, unread) = (sums.shown, sums.empty, sums.skipped, sums.unread)
    guard !inputs.isSingle || sums.holdsMany, empty + skipped + unread > 0 else { return }
    var parts = ["\((shown + empty + unread).counted("file")): \(shown) shown"]
    if unread > 0 { parts.append("\(unread) not read") }
    if empty > 0 { parts.append("\(empty) \(dump.emptyNote)") }
    if skipped > 0 { parts.append("\(skipped) skipped, no object files") }
    if shown > 0 { printer.output.write("\n") }
    printer.output.write(output.style.dim(parts.joined(separator: ", ")) + "\n")
  }
}

extension ExitCode {
  /// Ends a command with this status.
  func end() throws {
    if !isSuccess { throw self }
  }
}
