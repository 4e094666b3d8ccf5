package import BinaryImage
internal import LibC

/// Another process of this system, as far as it may be read, or what a core file kept of one. It is not
/// stopped.
///
/// Linux: `/proc/PID/maps`, `/proc/PID/mem` and `/proc/PID/map_files`; `ET_CORE`.
package final class RemoteProcess {
  /// What it has mapped.
  package let images: [RemoteMapping]
  /// Its number; nil where a core file does not say.
  package let pid: Int?
  /// What is missing of a core file.
  package let shortage: ImageError?
  private let memory: any RemoteMemory

  /// Opens the memory of a process and lists what it has mapped.
  ///
  /// Throws `unreadable` where there is no such process, or it may not be read.
  package init(pid: Int) throws(ImageError) {
    let directory = "/proc/\(pid)"
    let (text, failure) = systemFile("\(directory)/maps")
    guard failure == 0 else { throw Self.refusal(failure, pid) }
    let memory = try ProcessMemory(path: "\(directory)/mem", pid)
    let ranges = text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      var range = MappedRange(line)
      range?.path.unescapeLineBreaks()
      return range?.path.hasPrefix("/") == true ? range : nil
    }
    guard !ranges.isEmpty else {
      throw Self.error(pid, "It has no memory: it has ended, or belongs to the kernel.")
    }
    self.memory = memory
    self.pid = pid
    shortage = nil
    images = RemoteMapping.images(in: ranges).map { Self.checked($0, directory) }
  }

  /// Opens a core file and lists what the process had mapped.
  ///
  /// Throws where it is no core file, or does not say which files were mapped.
  package init(core path: String) throws(ImageError) {
    let core = try CoreFile(path: path)
    memory = core
    pid = core.pid
    shortage = core.shortage
    images = RemoteMapping.images(in: core.ranges).map { Self.checked($0, in: core) }
  }

  /// Reads the headers of an image; what it declares is read when it is asked for.
  package func image(_ mapping: RemoteMapping) throws(ImageError) -> RemoteImage {
    guard let core = memory as? CoreFile else { return try RemoteImage(mapping, in: memory) }
    let headers = try RemoteHeaders(of: mapping, in: core)
    return try RemoteImage(mapping, in: CoreImageMemory(headers, path: mapping.path, in: core))
  }

  static func error(_ pid: Int, _ message: String) -> ImageError {
    ImageError(.unreadable, image: "process \(pid)", message: message)
  }

  /// Why the system refuses, and what to do about it.
  static func refusal(_ number: Int32, _ pid: Int) -> ImageError {
    switch number {
    case ENOENT, ESRCH: error(pid, "There is no such process.")
    case EACCES, EPERM:
      error(
        pid,
        "It may not be read: be its user or root; kernel.yama.ptrace_scope above 0 asks for "
          + "CAP_SYS_PTRACE as well.")
    default: error(pid, "\(systemMessage(number)).")
    }
  }

  /// Says of a mapping what became of its file.
  private static func checked(_ mapping: RemoteMapping, _ directory: String) -> RemoteMapping {
    var mapping = mapping
    let mark = " (deleted)"
    mapping.isDeleted = mapping.path.hasSuffix(mark)
    if mapping.isDeleted { mapping.path.removeLast(mark.count) }
    // What the process sees under its root, whatever this one sees.
    let path = "\(directory)/root\(mapping.path)"
    let (first, other) = (mapping.ranges.first, fileID(of: path))
    let isSame = other == first?.fileID
    mapping.isReplaced = other != nil && !isSame
    if other == nil { mapping.isDeleted = true }
    mapping.files = ["\(directory)/map_files/\(first?.mapping ?? "")"] + (isSame ? [path] : [])
    return mapping
  }

  private static func checked(_ mapping: RemoteMapping, in core: CoreFile) -> RemoteMapping {
    // What is no image, or has no header there, is told when it is read.
    guard let headers = try? RemoteHeaders(of: mapping, in: core) else { return mapping }
    var mapping = mapping
    switch CoreImageMemory(headers, path: mapping.path, in: core).state {
    case .same, .unknown: break
    case .gone: mapping.isDeleted = true
    case .other: (mapping.isDeleted, mapping.isReplaced) = (true, true)
    }
    return mapping
  }

  /// The number of a file, as `maps` tells it.
  ///
  /// The device is left out: some file systems tell `stat` another one than they tell `maps`.
  private static func fileID(of path: String) -> String? {
    var status = stat()
    // Sound: the text and the structure outlive the call.
    guard unsafe stat(path, &status) == 0 else { return nil }
    return String(status.st_ino)
  }
}

extension String {
  /// Puts line breaks where the kernel wrote `\012`.
  fileprivate mutating func unescapeLineBreaks() {
    guard contains("\\") else { return }
    self = split(separator: "\\012", omittingEmptySubsequences: false).joined(separator: "\n")
  }
}

/// `/proc/PID/mem`, which stays that of the process it was opened for.
private final class ProcessMemory: RemoteMemory {
  private let descriptor: Int32
  private let pid: Int

  init(path: String, _ pid: Int) throws(ImageError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RemoteProcess.refusal(errno, pid) }
    (self.pid, self.descriptor) = (pid, descriptor)
  }

  deinit { close(descriptor) }

  func read(at address: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    guard let offset = Int(exactly: address) else { return [] }
    let (bytes, failure) = readBytes(of: descriptor, at: offset, count: count)
    // Nothing is mapped there: whoever asks knows what that means.
    guard failure == 0 || failure == EIO || failure == EFAULT else {
      throw RemoteProcess.refusal(failure, pid)
    }
    return bytes
  }
}
