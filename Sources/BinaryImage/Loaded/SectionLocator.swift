internal import CImageList

/// Where the sections of one loaded image are, and on whose word: its note's, or that of its file, for
/// which one path after another is tried.
///
/// An object, since it is large and asked often.
final class SectionLocator {
  /// What said where the sections are.
  private enum Source {
    case note
    case file(MappedFile)
    case unknown(ImageError)
  }

  /// Which of the answers this is about.
  let answer: Int
  /// Where the image is in the list.
  let position: Int
  let mapped: MappedImage
  /// What errors and identities call the image.
  let name: String
  /// The ranges, in the order of `LoadedImage.sectionNames`, each name ascending by address.
  private(set) var wanted: [MappedSection] = []
  private var source: Source
  private var paths: ImagePaths
  private var firstError: ImageError?

  init(answer: Int, position: Int, mapped: MappedImage, entry: image_entry) {
    self.answer = answer
    self.position = position
    self.mapped = mapped
    name = ImagePaths.displayName(of: mapped)
    paths = ImagePaths(of: mapped, at: entry.program_headers)
    source = .note
    if mapped.note == .valid { wanted = Self.ranges(of: entry) } else { openNextFile() }
  }

  /// Why the sections cannot be found, once no path is left.
  var failure: ImageError? {
    if case .unknown(let error) = source { error } else { nil }
  }

  /// On whose word the sections were copied.
  var evidence: LoadedImage.Evidence {
    if case .file = source { .file } else { .note }
  }

  /// Whether these headers, copied from memory, are those of the file that was believed so far.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>) -> Bool {
    guard case .file(let file) = source else { return true }
    return file.agrees(header: header, programHeaders: programHeaders)
  }

  /// Goes on to the next file, after this one proved to be another than the mapped one.
  func openAnotherFile() {
    firstError = error(
      .replaced,
      "The file is not the one that is mapped: deleted or replaced. Its sections cannot be found.")
    openNextFile()
  }

  /// An error about this image.
  func error(_ code: ImageError.Code, section: String? = nil, _ message: String) -> ImageError {
    ImageError(code, image: name, section: section, message: message)
  }

  private func openNextFile() {
    while let path = paths.next() {
      do throws(ImageError) {
        let file = try MappedFile(path: path, name: name, of: mapped)
        wanted = file.sections
        source = .file(file)
        return
      } catch {
        if firstError == nil { firstError = error }
      }
    }
    source = .unknown(firstError ?? error(.unreadable, "The image has no file."))
  }

  /// What a valid note says; a section whose start is its end is none.
  private static func ranges(of entry: image_entry) -> [MappedSection] {
    let (mods, services, records) = entry.sections
    return [mods, services, records].enumerated().compactMap { kind, range in
      range.start == range.stop
        ? nil : MappedSection(kind: kind, start: range.start, stop: range.stop)
    }
  }
}
