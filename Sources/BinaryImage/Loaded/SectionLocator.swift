internal import CImageList

/// Where the sections of one loaded image are, and on whose word: its note's, or that of its file, for
/// which one path after another is tried.
///
/// An object, since it is large and asked often.
final class SectionLocator {
  /// Which of the answers this is about.
  let answer: Int
  /// Where the image is in the list.
  let position: Int
  let mapped: MappedImage
  /// What errors and identities call the image.
  let name: String
  /// The ranges, in the order of `LoadedImage.sectionNames`, each name ascending by address.
  private(set) var wanted: [MappedSection] = []
  /// The reason that the sections cannot be found, once no path is left.
  private(set) var failure: ImageError?
  /// The file whose headers located the sections; nil if the note did.
  private var file: MappedFile?
  private var paths: ImagePaths
  private var firstError: ImageError?

  init(
    answer: Int, position: Int, mapped: MappedImage, entry: image_entry, in kernel: KernelMappings
  ) {
    (self.answer, self.position, self.mapped) = (answer, position, mapped)
    name = ImagePaths.displayName(of: mapped, in: kernel)
    paths = ImagePaths(of: mapped, at: entry.program_headers, in: kernel)
    guard mapped.note == .valid else {
      openNextFile()
      return
    }
    // A section whose start is its end is none.
    let (mods, services, records) = entry.sections
    wanted = [mods, services, records].enumerated().compactMap { kind, range in
      range.start == range.stop
        ? nil : MappedSection(kind: kind, start: range.start, stop: range.stop)
    }
  }

  /// Whether these headers, copied from memory, are those of the file that was believed so far.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>) -> Bool {
    file?.agrees(header: header, programHeaders: programHeaders) ?? true
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
        (wanted, self.file) = (file.sections, file)
        return
      } catch {
        if firstError == nil { firstError = error }
      }
    }
    failure = firstError ?? error(.unreadable, "The image has no file.")
  }
}

/// The range of the process that a section of this project occupies, not empty.
struct MappedSection {
  /// The name's place in `SectionNote.names`.
  let kind: Int
  let start: UInt
  let stop: UInt

  var name: String { SectionNote.names[kind] }
  /// Whether its words lead to text: typed records do not.
  var holdsPointers: Bool { kind != 2 }
}

/// A file that claims to be the one a mapped image came from: what was read of it, it is not open.
///
/// It may have been replaced or deleted since, or its path may lead elsewhere today. The headers
/// decide: the loader maps them, and two builds that share them share their section table too.
struct MappedFile {
  /// By name, in the order of `SectionNote.names`, then by address; whether the image maps them, the
  /// copy tells.
  private(set) var sections: [MappedSection] = []
  private let header: ArraySlice<UInt8>
  private let programHeaders: ArraySlice<UInt8>
  /// The build-id that the file must have, and whether it does.
  private let id: (isWanted: Bool, isThere: Bool)

  /// Reads the file at `path`, which should be that of `mapped`; errors call it `name`.
  init(path: String, name: String, of mapped: MappedImage) throws(ImageError) {
    let file = try OpenedFile(path: path, name: name, wasMapped: true)
    let (image, id) = (try ELFFile(file), mapped.buildID)
    header = try file.slice(at: 0, count: ELFHeader.size(bits: image.header.bits))
    programHeaders = try image.programHeaderBytes()
    self.id = (isWanted: !id.isEmpty, isThere: id.isEmpty ? true : try image.loadedBuildID() == id)
    for (kind, name) in SectionNote.names.enumerated() {
      // The loader maps none that is empty, or not allocated.
      let all = try image.sections(named: name).filter { $0.size > 0 && $0.isMapped }
      for section in all.sorted(by: { $0.address < $1.address }) {
        let start = mapped.bias.runtimeAddress(of: section.address).rawValue
        let (stop, overflow) = start.addingReportingOverflow(
          UInt(truncatingIfNeeded: section.size))
        try file.check(
          !overflow, .outOfImage,
          "The section's address is \(section.address.rawValue.hexadecimal), where nothing is mapped.",
          section: name)
        sections.append(MappedSection(kind: kind, start: start, stop: stop))
      }
    }
  }

  /// Whether an image with these headers and this build-id was mapped from this file.
  ///
  /// With a build-id, the position of the section table does not count. `header` is empty where no segment
  /// of the image holds it.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>) -> Bool {
    guard programHeaders.equals(self.programHeaders.span), id.isThere else { return false }
    if header.isEmpty || header.equals(self.header.span) { return true }
    var bytes: [UInt8] = []
    for index in header.indices { bytes.append(header[index]) }
    return id.isWanted && ELFHeader.areOfOneBuild(bytes[...], self.header)
  }
}

/// The paths by which the file of a mapped image may be found, likeliest first.
///
/// 1. The loader's name; `/proc/self/exe` for the program, which has none.
/// 2. The path that the kernel knows for the mapping: absolute where the name was relative.
/// 3. The mapping itself under `/proc/self/map_files`: works for deleted files and for memory files,
///    where the process may read it.
///
/// No path is believed: what it leads to is compared with what is mapped.
struct ImagePaths: Sequence, IteratorProtocol {
  private let name: String
  private let isProgram: Bool
  private let address: UInt
  private let kernel: KernelMappings
  private var step = 0
  private var rest: [String] = []

  /// The paths of an image that has something at `address`.
  init(of mapped: MappedImage, at address: UInt, in kernel: KernelMappings = KernelMappings()) {
    (name, isProgram) = (mapped.name, mapped.role == .program)
    (self.address, self.kernel) = (address, kernel)
  }

  mutating func next() -> String? {
    step += 1
    if step == 1 { return isProgram ? "/proc/self/exe" : name }
    // The kernel's list costs more than everything else here, and is seldom needed.
    if step == 2 { rest = kernel.paths(of: address).filter { $0 != name } }
    return rest.isEmpty ? nil : rest.removeFirst()
  }

  /// Returns the name of an image for errors and identities: the loader's, or the program's own path. An image
  /// opened by descriptor has the name that the kernel knows, `/memfd:plugin (deleted)`.
  static func displayName(
    of mapped: MappedImage, in kernel: KernelMappings = KernelMappings()
  ) -> String {
    let name = mapped.name.utf8Span.span
    if descriptors.contains(where: { name.holds($0.span, at: 0) }), let header = mapped.header,
      let path = kernel.paths(of: header.rawValue).first
    {
      return path
    }
    guard mapped.role == .program, mapped.name.isEmpty else { return mapped.name }
    return programPath ?? "/proc/self/exe"
  }

  /// The prefixes of paths that lead to descriptors.
  private static let descriptors = [Array("/proc/self/fd/".utf8), Array("/dev/fd/".utf8)]

  static let programPath = linkTarget(of: "/proc/self/exe")
}

/// The kernel's list of this process's mappings, read when it is first needed, and once: that costs more than all other
/// questions about many images.
final class KernelMappings {
  private lazy var ranges = MappedRange.ofThisProcess()

  /// The paths of the file that is mapped at an address.
  func paths(of address: UInt) -> [String] {
    let range = ranges[ranges.sortedIndex { $0.end > address }...].first
    guard let range, range.contains(address) else { return [] }
    return [range.path, "/proc/self/map_files/\(range.mapping)"]
  }
}

extension MappedImage {
  /// Its name in errors and identities: its path, as the loader or the kernel knows it.
  package var displayName: String { ImagePaths.displayName(of: self) }
}

extension ImageList {
  /// The images with their `displayName`.
  package var named: [(image: MappedImage, name: String)] {
    let kernel = KernelMappings()
    return (0..<count).map { position in
      (self[position], ImagePaths.displayName(of: self[position], in: kernel))
    }
  }
}
