internal import BinaryImage
internal import CElf

/// The parts of a process in a core file: its memory, and the files that it had mapped.
///
/// libelf hands out the notes, but has no structures for the kernel's `NT_FILE` and `NT_PRSTATUS`.
///
/// The kernel writes neither program text nor constants that it can find in files again.
///
/// C: `ET_CORE` with `PT_LOAD`, `NT_FILE` and `NT_PRSTATUS`.
final class CoreFile {
  /// The number of the process; nil if the file does not say.
  private(set) var pid: Int?
  /// The ranges that were mapped from files, in ascending order.
  private(set) var ranges: [MappedRange] = []
  /// The error if the file is shorter than it declares.
  let shortage: ImageError?
  var size: UInt64 { file.size }
  private let file: OpenedFile
  private let image: ELFFile
  /// The locations of the memory in the file.
  private let segments: ELFSegments

  /// The starts of parts, and whether code runs in them. Debuggers leave out parts that nothing has written to.
  private let parts: [UInt64: Bool]

  /// More bytes of notes, and more mapped files, than a process has.
  private static let (mostNotes, mostFiles): (UInt64, Int) = (1 << 25, 1 << 17)

  init(path: String) throws(ImageError) {
    let file = try OpenedFile(path: path)
    self.file = file
    image = try ELFFile(file)
    try file.check(image.isCore, .notAnObject, "It is no core file, but another ELF file.")
    segments = try image.segments()
    let (notes, loads) = (segments.notes, segments.loads)
    self.parts = Dictionary(loads.map { ($0.p_vaddr, $0.isExecutable) }) { first, _ in first }
    let missing = loads.count { $0.p_filesz > 0 && !file.holds($0.p_offset, $0.p_filesz) }
    shortage =
      missing == 0
      ? nil
      : file.error(
        .truncated,
        "The file ends before \(missing) of its \(loads.count) parts do; was its size limited?")
    let claimed = notes.reduce(UInt64(0)) { $0.saturating(adding: $1.p_filesz) }
    try file.check(
      claimed <= Self.mostNotes && claimed <= file.allocatedSize.saturating(adding: 1 << 20),
      .malformed, "The notes claim \(claimed) bytes, more than the file stores.")
    for segment in notes { try takeNotes(of: segment) }
    noteCode()
    try file.check(
      !ranges.isEmpty, .unsupported,
      "It does not say which files were mapped: there is no note NT_FILE.")
  }

  func read(_ address: UInt64, _ count: Int) throws(ImageError) -> [UInt8] {
    // The parts of a forged file may share their bytes, or have none.
    let count = file.stores(UInt64(count)) ? min(count, Int(clamping: size)) : 0
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let place = VirtualAddress(rawValue: address &+ UInt64(bytes.count))
      guard let extent = segments.extent(from: place) else { break }
      let held = file.held(at: extent.offset, min(extent.size, UInt64(count - bytes.count)))
      if held.size == 0 { break }
      bytes += try file.read(at: held.offset, count: Int(held.size))
    }
    return bytes
  }

  /// Reads the memory of an image. The file of the image has some of it too.
  ///
  /// Without that file, bytes that the core file leaves out throw `refusal`. The file is used only for memory that the
  /// process could not write to.
  func read(
    _ address: UInt64, _ count: Int, of image: RemoteImage, in other: OpenedFile?,
    refusal: ImageError
  ) throws(ImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    // Each of the two files has its bytes once.
    let count = min(count, Int(clamping: size.saturating(adding: other?.size ?? 0)))
    while bytes.count < count {
      let place = address &+ UInt64(bytes.count)
      let missing = count - bytes.count
      var more = try read(place, missing)
      if more.isEmpty, let constant = image.constants.first(where: { $0.memory.contains(place) }) {
        guard let other else { throw refusal }
        // Up to the end of a page: the core file may have the next page.
        let left = min(constant.memory.upperBound - place, 4096 - place % 4096, UInt64(missing))
        let offset = constant.offset &+ (place - constant.memory.lowerBound)
        more = try other.read(at: offset, count: Int(left))
      }
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  // MARK: - Notes

  private func takeNotes(of segment: GElf_Phdr) throws(ImageError) {
    let notes = try ELFNote.notes(
      in: file.slice(at: segment.p_offset, count: Int(segment.p_filesz)),
      alignment: segment.p_align, order: image.header.order, at: segment.p_vaddr,
      refusal: image.noteRefusal)
    for note in notes where note.owner == .core {
      let descriptor = note.descriptor.span
      switch note.type {
      case UInt32(NT_FILE): try takeFiles(descriptor)
      case UInt32(NT_PRSTATUS) where pid == nil:
        // `pr_pid` is after `pr_info`, `pr_cursig` and two words of signals.
        let offset = image.header.bits == 64 ? 32 : 24
        pid = descriptor.integer(at: offset, as: UInt32.self, order: image.header.order)
          .map { Int($0) }
      default: break
      }
    }
  }

  /// Reads `NT_FILE`: count, size of a page, three words for each range, and then their paths.
  private func takeFiles(_ bytes: Span<UInt8>) throws(ImageError) {
    let (bits, order) = image.words
    let size = bits / 8
    func word(_ index: Int) -> UInt64 {
      bytes.word(at: index * size, bits: bits, order: order) ?? 0
    }
    guard let count = Int(exactly: word(0)), count <= bytes.count / (3 * size),
      count <= Self.mostFiles
    else {
      throw file.error(.malformed, "The note NT_FILE claims \(word(0)) files.")
    }
    var position = (2 + 3 * count) * size
    for index in 0..<count {
      guard position <= bytes.count, let length = bytes.textLength(from: position) else {
        throw file.error(.malformed, "The note NT_FILE ends inside its paths.")
      }
      let path = bytes.extracting(position..<position + length)
      position += length + 1
      let (start, end) = (word(2 + 3 * index), word(3 + 3 * index))
      guard start < end else { continue }
      try file.check(
        ranges.last.map { $0.end <= start } ?? true, .malformed,
        "The note NT_FILE tells of \(start.hexadecimal) after what is behind it.")
      ranges.append(
        MappedRange(
          start: start, end: end, offset: word(4 + 3 * index) &* word(1),
          isExecutable: parts[start] ?? false, path: String(decoding: path)))
    }
  }

  /// Marks ranges that were left out: they may be code if another part of their file was kept. A file without any kept
  /// part was mapped to be read.
  private func noteCode() {
    let kept = Set(ranges.filter { parts[$0.start] != nil }.map(\.path))
    for index in ranges.indices where parts[ranges[index].start] == nil {
      ranges[index].isExecutable = kept.contains(ranges[index].path)
    }
  }
}
