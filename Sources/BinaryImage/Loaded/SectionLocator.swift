internal import CImageList

/// The locations of one loaded image's sections. They come from its note, or from its file, which is looked for at one
/// path after another.
///
/// A class, because it is large and used often.
final class SectionLocator {
  /// The index of the answer that this is about.
  let answer: Int
  /// The position of the image in the list.
  let position: Int
  let mapped: MappedImage
  /// The name of the image in errors and identities.
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
    // A section whose start is its end does not exist.
    let (mods, services, records) = entry.sections
    wanted = [mods, services, records].enumerated().compactMap { kind, range in
      range.start == range.stop
        ? nil : MappedSection(kind: kind, start: range.start, stop: range.stop)
    }
  }

  /// Returns whether these headers, copied from memory, are those of the file that was trusted so far.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>) -> Bool {
    file?.agrees(header: header, programHeaders: programHeaders) ?? true
  }

  /// Goes on to the next file, because this one is not the mapped file.
  func openAnotherFile() {
    firstError = error(
      .replaced,
      "The file is not the one that is mapped: deleted or replaced. Its sections cannot be found.")
    openNextFile()
  }

  /// Makes an error about this image.
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
  /// The index of the name in `SectionNote.names`.
  let kind: Int
  let start: UInt
  let stop: UInt

  var name: String { SectionNote.names[kind] }
  /// Whether its words lead to text: typed records do not.
  var holdsPointers: Bool { kind != 2 }
}

/// The contents of a file that claims to be the origin of a mapped image; the file is not open.
///
/// It may have been replaced or deleted since, or its path may lead elsewhere today. The headers
/// decide: the loader maps them, and two builds that share them share their section table too.
struct MappedFile {
  /// The sections, by name in the order of `SectionNote.names`, then by address. The copy tells whether the image maps
  /// them.
  private(set) var sections: [MappedSection] = []
  private let header: ArraySlice<UInt8>
  private let programHeaders: ArraySlice<UInt8>
  /// Whether the file must have a build-id, and whether it has the right one.
  private let id: (isWanted: Bool, isThere: Bool)

  /// Reads the file at `path`, which should be the file of `mapped`; errors call it `name`.
  init(path: String, name: String, of mapped: MappedImage) throws(ImageError) {
    let file = try OpenedFile(path: path, name: name, wasMapped: true)
    let (image, id) = (try ELFFile(file), mapped.buildID)
    header = try file.slice(at: 0, count: ELFHeader.size(bits: image.header.bits))
    programHeaders = try image.programHeaderBytes()
    self.id = (isWanted: !id.isEmpty, isThere: id.isEmpty ? true : try image.loadedBuildID() == id)
    for (kind, name) in SectionNote.names.enumerated() {
      // The loader does not map sections that are empty or not allocated.
      let all = try image.sections(named: name).filter { $0.size > 0 && $0.isMapped }
      for section in all.sorted(by: { $0.address < $1.address }) {
        let start = mapped.bias.runtimeAddress(of: section.address).rawValue
        let (stop, overflow) = start.addingReportingOverflow(UInt(truncatingIfNeeded: section.size))
        try file.check(
          !overflow, .outOfImage,
          "The section's address is \(section.address.rawValue.hexadecimal), where nothing is mapped.",
          section: name)
        sections.append(MappedSection(kind: kind, start: start, stop: stop))
      }
    }
  }

  /// Returns whether an image with these headers and this build-id was mapped from this file.
  ///
  /// With a build-id, the position of the section table does not count. `header` is empty if no segment of the image
  /// holds it.
  func agrees(header: Span<UInt8>, programHeaders: Span<UInt8>) -> Bool {
    guard programHeaders.equals(self.programHeaders.span), id.isThere else { return false }
    if header.isEmpty || header.equals(self.header.span) { return true }
    var bytes: [UInt8] = []
    for index in header.indices { bytes.append(header[index]) }
    return id.isWanted && ELFHeader.areOfOneBuild(bytes[...], self.header)
  }
}

/// The paths that may lead to the file of a mapped image, likeliest first.
///
/// 1. The loader's name; `/proc/self/exe` for the program, which has none.
/// 2. The path that the kernel knows for the mapping: absolute if the name was relative.
/// 3. The mapping itself under `/proc/self/map_files`, if the process may read it: works for deleted files and for
///    memory files.
///
/// No path is trusted: the file that it leads to is compared with the mapped image.
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

/// The kernel's list of this process's mappings, read once, when it is first needed: reading it costs more than all
/// other questions about many images.
final class KernelMappings {
  private lazy var ranges = MappedRange.ofThisProcess()

  /// Returns the paths of the file that is mapped at an address.
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
