package import BinaryImage
internal import LibC

/// Another process of this system, as far as it may be read, or the core file of one. Reading does not stop it.
///
/// Linux: `/proc/PID/maps` lists the mappings. `/proc/PID/mem` has the bytes, and stays that of the process it was
/// opened for. `/proc/PID/map_files` and `/proc/PID/root` show the state of the files.
package final class RemoteProcess {
  /// The images that it has mapped.
  package private(set) var images: [RemoteMapping] = []
  /// Its number; nil if a core file does not say.
  package let pid: Int?
  /// The error if a core file is incomplete.
  package var shortage: ImageError? { core?.shortage }
  /// The size of a core file in bytes; nil for a process that runs.
  package var coreSize: UInt64? { core?.size }
  private let core: CoreFile?
  /// The descriptor of the memory of a process that runs, else -1.
  private let descriptor: Int32

  /// Opens the memory of a process and lists the images that it has mapped.
  ///
  /// Throws `unreadable` if there is no such process, or it may not be read.
  package init(pid: Int) throws(ImageError) {
    let (text, failure) = systemFile("/proc/\(pid)/maps")
    guard failure == 0 else { throw Self.refusal(failure, pid) }
    let descriptor = unsafe open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.refusal(errno, pid) }
    (self.pid, self.descriptor, core) = (pid, descriptor, nil)
    let ranges: [MappedRange] = text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      guard var range = MappedRange(line), range.path.hasPrefix("/") else { return nil }
      // The kernel writes a line break as `\012`.
      range.path = range.path.split(separator: "\\012", omittingEmptySubsequences: false)
        .joined(separator: "\n")
      return range
    }
    guard !ranges.isEmpty else { throw Self.refusal(ESRCH, pid) }
    images = RemoteMapping.images(in: ranges, read).map { Self.checked($0, "/proc/\(pid)") }
  }

  /// Opens a core file and lists the images that the process had mapped.
  ///
  /// Throws if it is no core file, or does not list the mapped files.
  package init(core path: String) throws(ImageError) {
    let core = try CoreFile(path: path)
    (pid, descriptor, self.core) = (core.pid, -1, core)
    images = RemoteMapping.images(in: core.ranges, read)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads the headers of an image, and for a core file the state of the image's file. Its entries are read later.
  package func image(_ mapping: RemoteMapping) throws(ImageError) -> RemoteImage {
    let image = try RemoteImage(mapping, in: read)
    guard let core else { return image }
    var mapping = mapping
    if fileStatus(of: mapping.path.utf8, followingLinks: true) == nil { _ = mapping.dropMark() }
    let found = try? OpenedFile(path: mapping.path)
    let isSame = found.flatMap { try? image.agrees(with: ELFFile($0)) } ?? false
    let fate = found == nil ? "is gone" : "is another one now"
    if !isSame { (mapping.isDeleted, mapping.isReplaced) = (true, found != nil) }
    let hasID = !image.identity.id.isEmpty
    let reason =
      isSame ? "has no build-id to prove that it is the mapped file" : fate
    let refusal = mapping.error(
      .replaced, "The core file leaves out what the image's file has, and that file \(reason).")
    return try RemoteImage(mapping) { address, count throws(ImageError) in
      try core.read(address, count, of: image, in: isSame && hasID ? found : nil, refusal: refusal)
    }
  }

  private func read(_ address: UInt64, _ count: Int) throws(ImageError) -> [UInt8] {
    if let core { return try core.read(address, count) }
    guard let offset = Int(exactly: address) else { return [] }
    let (bytes, failure) = readBytes(of: descriptor, at: offset, count: count)
    // Nothing is mapped there: the caller knows what that means.
    guard failure == 0 || failure == EIO || failure == EFAULT else {
      throw Self.refusal(failure, pid ?? 0)
    }
    return bytes
  }

  /// Returns a mapping with the state of its file.
  private static func checked(_ mapping: RemoteMapping, _ directory: String) -> RemoteMapping {
    var mapping = mapping
    // The process may have another root than this one.
    let root = "\(directory)/root"
    let first = mapping.ranges.first
    // Without the device: some file systems give other devices in `stat` than in `maps`.
    func number() -> String? {
      let path = Array(root.utf8) + (mapping.pathBytes ?? Array(mapping.path.utf8))
      return fileStatus(of: path, followingLinks: true).map { String($0.st_ino) }
    }
    var other = number()
    // The name of a file may really end with the mark.
    if other != first?.fileID, mapping.dropMark() { other = number() }
    let isSame = other == first?.fileID
    mapping.isReplaced = other != nil && !isSame
    if other == nil { mapping.isDeleted = true }
    mapping.files =
      ["\(directory)/map_files/\(first?.mapping ?? "")"] + (isSame ? [root + mapping.path] : [])
    return mapping
  }

  /// Describes a refusal of the system, with a remedy.
  private static func refusal(_ number: Int32, _ pid: Int) -> ImageError {
    let message =
      switch number {
      case ENOENT, ESRCH:
        fileStatus(of: "/proc/\(pid)".utf8, followingLinks: false) == nil
          ? "There is no such process."
          : "It has no memory: it has ended, or belongs to the kernel."
      case EACCES, EPERM:
        "You may not read it. Run as its user, or as root with CAP_SYS_PTRACE, which containers often lack; if "
          + "kernel.yama.ptrace_scope is above 0, its user needs CAP_SYS_PTRACE too."
      default: "\(systemMessage(number))."
      }
    return ImageError(.unreadable, image: "process \(pid)", message: message)
  }
}

/// A function that reads the memory of another process or a core file. It returns the bytes at an address, as many as
/// there are, at most the second number.
typealias RemoteMemory = (UInt64, Int) throws(ImageError) -> [UInt8]

/// An image that another process has mapped, and the state of its file.
package struct RemoteMapping: Sendable {
  /// The path of its file in the process.
  package var path: String
  /// The bytes of a path that is not UTF-8.
  package var pathBytes: [UInt8]?
  /// The address of its header.
  package var base: UInt64
  /// Whether the file has no name any more.
  package var isDeleted = false
  /// Whether another file has its name now.
  package var isReplaced = false
  /// Its mapped ranges, in ascending order.
  package var ranges: [MappedRange]
  /// The paths that may lead to the file itself, likeliest first.
  var files: [String]

  /// Throws an error that names the image unless something is right.
  func check(
    _ isRight: Bool, _ code: ImageError.Code, _ message: @autoclosure () -> String,
    section: Section? = nil
  ) throws(ImageError) {
    if !isRight { throw error(code, message(), section: section) }
  }

  /// Returns an error that names the image.
  func error(_ code: ImageError.Code, _ message: String, section: Section? = nil) -> ImageError {
    ImageError(code, image: path, section: section?.name, message: message)
  }

  /// Whether its file is there and starts like an ELF file.
  var hasELFFile: Bool {
    files.contains { path in
      (try? OpenedFile(path: path)).map { ELFFile.recognises($0.head) } ?? false
    }
  }

  /// Reads the headers at its start.
  func headers(_ read: RemoteMemory) throws(ImageError) -> ELFMemoryHeaders {
    try ELFMemoryHeaders(failure: { error($0, $1) }) { offset, count throws(ImageError) in
      try read(base &+ offset, count)
    }
  }

  /// Returns the images among mapped ranges, in the order of their addresses.
  ///
  /// An image begins with the start of its file, and some of it may run. A file that is mapped to be read is no image.
  /// Several segments may each map the first page of the file, so the headers tell the size of the image.
  static func images(in ranges: [MappedRange], _ read: RemoteMemory) -> [RemoteMapping] {
    var images: [RemoteMapping] = []
    var size: UInt64?
    for range in ranges {
      if let first = images.last?.ranges.first, first.path == range.path,
        first.fileID == range.fileID
      {
        if range.offset == 0, size == nil {
          size = (try? images.last?.headers(read).imageSize) ?? 0
        }
        if range.offset > 0 || range.start - first.start < size ?? 0 {
          images[images.count - 1].ranges.append(range)
          continue
        }
      }
      images.append(
        RemoteMapping(
          path: range.path, pathBytes: range.pathBytes, base: range.start, ranges: [range],
          files: [range.path]))
      size = nil
    }
    return images.filter { $0.ranges[0].offset == 0 && $0.ranges.contains(where: \.isExecutable) }
  }

  /// Removes the mark that the system writes after the path of a file without a name. Returns false if there is no
  /// mark.
  mutating func dropMark() -> Bool {
    let mark = MappedRange.deletedMark
    guard path.hasSuffix(mark) else { return false }
    path.removeLast(mark.count)
    pathBytes?.removeLast(mark.utf8.count)
    isDeleted = true
    return true
  }
}
