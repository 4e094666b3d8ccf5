internal import ArgumentParser
internal import BinaryImage
internal import ObjectFiles

/// A command that lists something of each image of the named files.
struct ImageListing<Element: Tabled>: Sendable {
  /// The key of the elements in a JSON file object.
  let key: StaticString
  /// The text of a table without rows.
  var emptyNote: String
  /// A name for the files that were found and left out.
  var skippedNote = "no object files"
  /// The names that the files should have, and whether they were found so far.
  var wanted = Wanted()
  /// Finds the elements of an image, and notes the problems of some of them.
  let read: @Sendable (any FileImage, ReadImage, inout Wanted) throws(ImageError) -> [Element]

  /// Reads the inputs, prints the elements of each in their order, and returns the exit status: 2 if an input
  /// could not be read, else 1 if no file has something that was named, else 0.
  func show(_ inputs: Inputs, in output: Presentation) -> ExitCode {
    let printer = Printer(output.format)
    printer.begin { csv in
      Place.writeFile(of: nil, to: &csv)
      Element.writeFields(of: nil, to: &csv)
    }
    var sums = ReportSums(wanted: wanted)
    let passed = inputs.read { files, handOn in
      var part = ReportPart()
      let writer = ImageWriter<Element>(output, key: key, emptyNote: emptyNote) { piece in
        part.pieces.append(piece)
        part.size += piece.bytes.count
        guard part.size >= 1 << 20 else { return }
        handOn(part)
        part = ReportPart()
      }
      var reports = FileReports(listing: self, inputs: inputs, writer: writer)
      for file in files { reports.read(file) }
      part.sums = reports.finish()
      return part
    } take: { part in
      for piece in part.pieces { printer.take(piece) }
      guard let more = part.sums else { return }
      sums.add(more)
      printer.progress.advance(by: more[.files])
    }
    if output.format == .table {
      let summary = summary(sums, passed)
      if !summary.isEmpty, !inputs.isSingle || sums[.contained] > 0 {
        printer.output.write((sums[.shown] > 0 ? "\n" : "") + output.style.dim(summary) + "\n")
      }
    } else {
      if sums[.skipped] > 0 { printer.errors.say("\(sums[.skipped]) skipped (\(skippedNote))") }
      if let note = passed.note { printer.errors.say(note) }
    }
    // Where nothing could be read, a name may be there.
    let complaints = sums[.failed] > 0 && sums[.read] == 0 ? [] : sums.wanted.complaints
    for complaint in complaints { printer.errors.say(complaint) }
    let isWritten = printer.finish()
    if sums[.failed] > 0 || !isWritten { return ExitCode(2) }
    return complaints.isEmpty ? .success : ExitCode(1)
  }

  /// `3 files: 1 shown, 1 not read, 1 no entries`; empty if each file is shown.
  private func summary(_ sums: ReportSums, _ passed: Inputs.PassedOver) -> String {
    let rest = [(sums[.unread], "not read"), (sums[.empty], emptyNote)]
      .filter { $0.0 > 0 }.map { "\($0) \($1)" }
    let left = sums[.skipped] > 0 ? ["\(sums[.skipped]) skipped (\(skippedNote))"] : []
    let others = rest + left + (passed.note.map { [$0] } ?? [])
    if others.isEmpty { return "" }
    let files = (sums[.shown] + sums[.empty] + sums[.unread]).counted("file")
    return (["\(files): \(sums[.shown]) shown"] + others).joined(separator: ", ")
  }
}

/// The sums of the reports of some files.
struct ReportSums: Sendable, Codable {
  enum Count: Int, CaseIterable {
    /// Files, and what tables say of them and of the images in them.
    case files, shown, empty, skipped, unread
    /// Images with problems, and those whose contents could be read.
    case failed, read
    /// Images that are parts of files.
    case contained
  }

  /// The numbers by the raw values of what is counted.
  private var counts = Count.allCases.map { _ in 0 }
  /// The wanted names, and whether these files have them.
  var wanted = Wanted()

  init(wanted: Wanted = Wanted()) { self.wanted = wanted }

  subscript(count: Count) -> Int {
    get { counts[count.rawValue] }
    set { counts[count.rawValue] = newValue }
  }

  /// Whether a child may have counted this.
  var isSensible: Bool {
    counts.count == Count.allCases.count && counts.allSatisfy(ReportPart.counts.contains)
  }

  /// Adds the sums of further files; a wanted name is in one of all.
  mutating func add(_ other: Self) {
    for index in counts.indices { counts[index] += other.counts[index] }
    wanted.add(other.wanted)
  }
}

/// A part of the report of the files that are read.
struct ReportPart: Reported {
  /// The output.
  var pieces: [Piece] = []
  /// The bytes of all pieces.
  var size = 0
  /// Nil in all but the last part.
  var sums: ReportSums?

  init() {}

  init?(_ pieces: [Piece], sums bytes: [UInt8], of _: Result<Input, ImageError>) {
    guard let sums = try? ReportSums(coded: bytes), sums.isSensible else { return nil }
    (self.pieces, self.sums) = (pieces, sums)
  }

  var codedSums: [UInt8]? { sums?.coded }
}

/// Reads files one after another and says, in pieces, what a command shows of them.
private struct FileReports<Element: Tabled> {
  var listing: ImageListing<Element>
  let inputs: Inputs
  var writer: ImageWriter<Element>

  /// Hands on what was not handed on yet, and returns what all amount to.
  func finish() -> ReportSums {
    writer.text.flush()
    var sums = writer.sums
    sums.wanted = listing.wanted
    return sums
  }

  /// Reports one file, or why there is none.
  mutating func read(_ file: Result<Input, ImageError>) {
    writer.sums[.files] += 1
    switch file {
    case .success(let input): read(input)
    case .failure(let error): writer.note(error, at: Place(path: error.image))
    }
  }

  private mutating func read(_ input: Input) {
    var (isShown, refusal): (Bool, ImageError?) = (false, nil)
    listing.wanted.looksForSimilar = input.isAmongFirst
    input.forEachImage(architecture: inputs.architecture) { found in
      let place = input.place(in: found.container)
      if !found.container.isEmpty { writer.sums[.contained] += 1 }
      do throws(ImageError) {
        let image = try found.image.get()
        if input.isFound { try image.refuseCore() }
        let found = ReadImage(place, image)
        let elements = try elements(of: image, found, input)
        writer.show(found, elements, isAlone: inputs.isSingle && place.container.isEmpty)
        isShown = true
        return found.entrySize
      } catch {
        if input.mayOmit(error, in: place.container) {
          writer.sums[.skipped] += 1
          if error.code == .noEntries { refusal = refusal ?? error }
        } else {
          writer.note(error, at: place)
          isShown = true
        }
        return 0
      }
    }
    // What was named, and has nothing that the command reads, is no empty result.
    if let refusal, !isShown, !input.isFound { writer.note(refusal, at: input.place()) }
  }

  /// Returns the elements to show; nil if they cannot be read. Throws if the image may be left out.
  private mutating func elements(
    of image: any FileImage, _ found: ReadImage, _ input: Input
  ) throws(ImageError) -> [Element]? {
    var elements: [Element]?
    do throws(ImageError) {
      elements = try listing.read(image, found, &listing.wanted)
    } catch {
      if input.mayOmit(error, in: found.place.container) { throw error }
      found.problems.append(error)
    }
    if image.checkExtents(&found.problems), elements != nil { writer.sums[.read] += 1 }
    return elements
  }
}
