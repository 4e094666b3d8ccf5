internal import ArgumentParser
internal import BinaryImage
internal import ObjectFiles

/// A command that lists something of each image of the named files.
struct ImageListing<Element: Tabled>: Sendable {
  /// The key of the elements in a JSON file object.
  let key: StaticString
  /// The text of a table without rows.
  var emptyNote: String
  /// The name in summaries for the files that were found and left out.
  var skippedNote = "no object files"
  /// The names that the files should have.
  var wanted = Wanted()
  /// Finds the elements of an image, and notes the problems of some of them.
  let read: @Sendable (any FileImage, ReadImage, inout Wanted) throws(ImageError) -> [Element]

  /// Reads the inputs, prints their elements in order, and returns the exit status. It is 2 if an input could not be
  /// read, else 1 if a wanted name is in no file, else 0.
  func show(_ inputs: Inputs, in format: OutputFormat, _ style: Style) -> ExitCode {
    let printer = Printer(format)
    printer.begin { csv in
      Place.writeFile(of: nil, to: &csv)
      Element.writeFields(of: nil, to: &csv)
    }
    var sums = ReportSums(wanted: wanted)
    let passed = inputs.read { files, handOn in
      var part: ReportPart<ReportSums> = ([], nil)
      var size = 0
      var writer = ImageWriter<Element>(format, style, key: key, emptyNote: emptyNote) { piece in
        part.pieces.append(piece)
        size += piece.bytes.count
        guard size >= 1 << 20 else { return }
        handOn(part)
        (part.pieces, size) = ([], 0)
      }
      writer.sums.wanted = wanted
      for file in files { report(file, of: inputs, to: &writer) }
      writer.text.flush()
      part.sums = writer.sums
      return part
    } take: { part in
      for piece in part.pieces { printer.take(piece) }
      guard let more = part.sums else { return }
      sums.add(more)
      printer.progress.advance(by: more.files)
    }
    if format == .table {
      let summary = summary(sums, passed.note)
      if !summary.isEmpty, !inputs.isSingle || sums.contained > 0 {
        printer.output.write((sums.shown > 0 ? "\n" : "") + style.dim(summary) + "\n")
      }
    } else {
      if sums.skipped > 0 { printer.errors.say("\(sums.skipped) skipped (\(skippedNote))") }
      if let note = passed.note { printer.errors.say(note) }
    }
    // If nothing could be read, the names may still be there.
    let complaints = sums.failed > 0 && sums.read == 0 ? [] : sums.wanted.complaints
    for complaint in complaints { printer.errors.say(complaint) }
    let isWritten = printer.finish()
    if sums.failed > 0 || !isWritten { return ExitCode(2) }
    return complaints.isEmpty ? .success : ExitCode(1)
  }

  /// `3 files: 1 shown, 1 not read, 1 no entries`; empty if each file is shown.
  private func summary(_ sums: ReportSums, _ passedOver: String?) -> String {
    let counts = [
      (sums.unread, "not read"), (sums.empty, emptyNote),
      (sums.skipped, "skipped (\(skippedNote))"),
    ]
    let others =
      counts.filter { $0.0 > 0 }.map { "\($0) \($1)" } + (passedOver.map { [$0] } ?? [])
    if others.isEmpty { return "" }
    let files = (sums.shown + sums.empty + sums.unread).counted("file")
    return (["\(files): \(sums.shown) shown"] + others).joined(separator: ", ")
  }

  /// Writes the images of one file, or the error.
  private func report(_ input: Input, of inputs: Inputs, to writer: inout ImageWriter<Element>) {
    writer.sums.files += 1
    var (isShown, refusal): (Bool, ImageError?) = (false, nil)
    writer.sums.wanted.looksForSimilar = input.isAmongFirst
    input.forEachImage(architecture: inputs.architecture) { found, place throws(ImageError) in
      if !place.container.isEmpty { writer.sums.contained += 1 }
      let image = try found.get()
      if input.isFound { try image.refuseCore() }
      let found = ReadImage(place, image)
      var elements: [Element]?
      do throws(ImageError) {
        elements = try read(image, found, &writer.sums.wanted)
      } catch {
        if input.mayOmit(error, in: place.container) { throw error }
        found.problems.append(error)
      }
      if image.checkExtents(&found.problems), elements != nil { writer.sums.read += 1 }
      writer.show(found, elements, isAlone: inputs.isSingle && place.container.isEmpty)
      isShown = true
      return found.entrySize
    } failed: { error, place in
      if let place {
        writer.note(error, at: place)
        isShown = true
      } else {
        writer.sums.skipped += 1
        if error.code == .noEntries { refusal = refusal ?? error }
      }
    }
    // A named file without anything that the command reads is not an empty result.
    if let refusal, !isShown, !input.isFound { writer.note(refusal, at: input.place) }
  }
}

/// The sums of the reports of some files.
struct ReportSums: Reported {
  /// The number of files, and the counts of images that tables show.
  var files = 0
  var shown = 0
  var empty = 0
  var skipped = 0
  var unread = 0
  /// The number of images with problems, and of images whose contents could be read.
  var failed = 0
  var read = 0
  /// The number of images that are parts of files.
  var contained = 0
  /// The wanted names, and whether these files have them.
  var wanted = Wanted()

  private static var counts: [WritableKeyPath<Self, Int>] {
    [\.files, \.shown, \.empty, \.skipped, \.unread, \.failed, \.read, \.contained]
  }

  func isSensible(of _: Input) -> Bool {
    Self.counts.allSatisfy { Self.possible ~= self[keyPath: $0] }
  }

  /// Adds the sums of further files. A wanted name need only be in one of all files.
  mutating func add(_ other: Self) {
    for count in Self.counts { self[keyPath: count] += other[keyPath: count] }
    wanted.add(other.wanted)
  }
}
