internal import ArgumentParser
internal import BinaryImage

/// Reads the inputs, prints what a command shows of each in their order, and knows how it went.
struct DumpRun<Shown: Dump> {
  /// What is handed on of the files that are read.
  private struct Part: Sendable {
    var pieces: [(Piece, [UInt8])] = []
    /// Nil in all but the last part.
    var sums: ReportSums?
  }

  let dump: Shown
  let inputs: Inputs
  let output: Presentation
  private let printer: Printer

  init(_ dump: Shown, _ inputs: Inputs, _ output: Presentation) {
    self.dump = dump
    self.inputs = inputs
    self.output = output
    printer = Printer(output.format)
  }

  /// Prints everything and answers the exit status: 2 where an input could not be read, else 1
  /// where something is asked for that no file has, else 0.
  func callAsFunction() -> ExitCode {
    if inputs.child != nil, let status = ChildServer.serve(answer) { return status }
    printer.begin(["path", "container"] + Shown.columns)
    let (sums, passed) = readAll()
    if output.format == .table {
      writeSummary(sums, passed)
    } else {
      if sums.skipped > 0 { printer.errors.say("\(sums.skipped) skipped (\(dump.skippedNote))") }
      if let note = passed.note { printer.errors.say(note) }
    }
    let complaints = sums.wanted.complaints
    for complaint in complaints { printer.errors.say(complaint) }
    let isWritten = printer.finish()
    if sums.hasProblems || !isWritten { return ExitCode(2) }
    return complaints.isEmpty ? .success : ExitCode(1)
  }

  /// Reads one file for the process that has started this one; nil where no bytes can say the sums.
  private func answer(_ request: Request, _ put: @escaping (Piece, [UInt8]) -> Void) -> [UInt8]? {
    var (inputs, output) = (inputs, output)
    inputs.child = nil
    output.color = request.isColored ? .always : .never
    var reports = FileReports(dump, inputs, output, to: PieceStream(put))
    reports.read(.success(request.input))
    reports.finish()
    return reports.sums.coded
  }

  private func readAll() -> (ReportSums, Inputs.PassedOver) {
    var sums = ReportSums()
    sums.wanted = dump.wanted
    let passed: Inputs.PassedOver
    if inputs.jobs > 1 {
      let threads = threads { part in
        for (piece, bytes) in part.pieces { printer.take(piece, bytes) }
        guard let more = part.sums else { return }
        sums.add(more)
        printer.progress.advance(by: more.files)
      }
      passed = inputs.forEach(threads.add)
      threads.finish()
    } else {
      var reports = FileReports(dump, inputs, output, to: PieceStream(printer))
      passed = inputs.forEach { file in
        reports.read(file)
        printer.progress.advance(by: 1)
      }
      sums = reports.sums
    }
    if sums.wanted.lacksSections { addNames(ofSectionsIn: sums.first, to: &sums.wanted) }
    return (sums, passed)
  }

  /// Threads that read files, and have what they found taken in order.
  private func threads(take: @escaping (Part) -> Void) -> ReadingThreads<Part> {
    let (dump, inputs, output) = (dump, inputs, output)
    return ReadingThreads(
      jobs: inputs.jobs,
      read: { files, handOn in
        var (part, size) = (Part(), 0)
        let stream = PieceStream { piece, bytes in
          part.pieces.append((piece, bytes))
          size += bytes.count
          guard size >= 1 << 20 else { return }
          handOn(part)
          (part, size) = (Part(), 0)
        }
        var reports = FileReports(dump, inputs, output, to: stream)
        for file in files { reports.read(file) }
        reports.finish()
        part.sums = reports.sums
        return part
      }, take: take)
  }

  /// Reads files once more, now that no file has a section that was asked for: some names may be similar.
  private func addNames(ofSectionsIn files: [Input], to wanted: inout Wanted) {
    var reports = FileReports(dump, inputs, output, to: PieceStream { _, _ in })
    for var file in files {
      file.isAskedForNames = true
      reports.read(.success(file))
    }
    wanted.add(reports.sums.wanted)
  }

  private func writeSummary(_ sums: ReportSums, _ passed: Inputs.PassedOver) {
    let (shown, empty, skipped, unread) = (sums.shown, sums.empty, sums.skipped, sums.unread)
    guard !inputs.isSingle || sums.holdsMany, empty + skipped + unread + passed.irregular > 0
    else { return }
    var parts = ["\((shown + empty + unread).counted("file")): \(shown) shown"]
    if unread > 0 { parts.append("\(unread) not read") }
    if empty > 0 { parts.append("\(empty) \(dump.emptyNote)") }
    if skipped > 0 { parts.append("\(skipped) skipped (\(dump.skippedNote))") }
    if let note = passed.note { parts.append(note) }
    if shown > 0 { printer.output.write(word: "\n") }
    printer.output.write(output.style.dim(parts.joined(separator: ", ")) + "\n")
  }
}

extension ExitCode {
  /// Ends a command with this status.
  func end() throws {
    if !isSuccess { throw self }
  }
}
