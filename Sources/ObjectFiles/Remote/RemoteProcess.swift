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
    let text = try Self.contents(of: "\(directory)/maps", pid)
    let memory = try ProcessMemory(path: "\(directory)/mem", pid)
    let ranges = text.split(separator: UInt8(ascii: "\n")).compactMap(Self.range)
    guard !ranges.isEmpty else {
      throw Self.error(pid, "It has no memory: it has ended, or belongs to the kernel.")
    }
    self.memory = memory
    self.pid = pid
    shortage = nil
    images = RemoteMapping.images(in: ranges).compactMap { ranges in
      ranges.first.map { Self.mapping(ranges, first: $0, directory) }
    }
  }

  /// Opens a core file and lists what the process had mapped.
  ///
  /// Throws where it is no core file, or does not say which files were mapped.
  package init(core path: String) throws(ImageError) {
    let core = try CoreFile(path: path)
    memory = core
    pid = core.pid
    shortage = core.shortage
    images = RemoteMapping.images(in: core.ranges).compactMap { ranges in
      ranges.first.map { Self.mapping(ranges, first: $0, in: core) }
    }
  }

  /// Reads the headers of an image; what it declares is read when it is asked for.
  package func image(_ mapping: RemoteMapping) throws(ImageError) -> RemoteImage {
    guard let core = memory as? CoreFile else { return try RemoteImage(mapping, in: memory) }
    let headers = try RemoteHeaders(of: mapping, in: core)
    return try RemoteImage(
      mapping, in: CoreImageMemory(headers, path: mapping.path, in: core))
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

  private static func mapping(
    _ ranges: [MappedRange], first: MappedRange, _ directory: String
  ) -> RemoteMapping {
    let mark = " (deleted)"
    let hasMark = first.path.hasSuffix(mark)
    let name = hasMark ? String(first.path.dropLast(mark.count)) : first.path
    // What the process sees under its root, whatever this one sees.
    let path = "\(directory)/root\(name)"
    let other = fileID(of: path)
    let isReplaced = other != nil && other != first.fileID
    let range = String(first.start, radix: 16) + "-" + String(first.end, radix: 16)
    return RemoteMapping(
      path: name, base: first.start, isDeleted: hasMark || other == nil, isReplaced: isReplaced,
      ranges: ranges,
      files: ["\(directory)/map_files/\(range)"] + (other == first.fileID ? [path] : []))
  }

  private static func mapping(
    _ ranges: [MappedRange], first: MappedRange, in core: CoreFile
  ) -> RemoteMapping {
    var mapping = RemoteMapping(
      path: first.path, base: first.start, isDeleted: false, isReplaced: false, ranges: ranges,
      files: [first.path])
    // What is no image, or has no header there, is told when it is read.
    guard let headers = try? RemoteHeaders(of: mapping, in: core) else { return mapping }
    switch CoreImageMemory(headers, path: first.path, in: core).state {
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

  /// `start-end permissions offset device inode path`; nil for what is no file.
  private static func range(_ line: ArraySlice<UInt8>) -> MappedRange? {
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
    guard fields.count == 6 else { return nil }
    func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    let bounds = fields[0].split(separator: UInt8(ascii: "-"))
    let path = text(fields[5].drop { $0 == UInt8(ascii: " ") })
    guard bounds.count == 2, let start = UInt64(text(bounds[0]), radix: 16),
      let end = UInt64(text(bounds[1]), radix: 16), let offset = UInt64(text(fields[2]), radix: 16),
      start < end, path.hasPrefix("/")
    else { return nil }
    return MappedRange(
      start: start, end: end, offset: offset, isExecutable: text(fields[1]).contains("x"),
      path: path.unescapedLineBreaks, fileID: text(fields[4]))
  }

  private static func contents(of path: String, _ pid: Int) throws(ImageError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw refusal(errno, pid) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while true {
      var failure: Int32 = 0
      let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
        // Sound: read writes at most as many bytes as it is told.
        let got = unsafe read(descriptor, buffer.baseAddress, buffer.count)
        if got < 0 { failure = errno }
        count = max(0, got)
      }
      if failure != 0, failure != EINTR { throw refusal(failure, pid) }
      if chunk.isEmpty, failure == 0 { return bytes }
      bytes += chunk
    }
  }
}

extension String {
  /// The text with line breaks where the kernel wrote `\012`.
  fileprivate var unescapedLineBreaks: String {
    guard contains("\\") else { return self }
    return split(separator: "\\012", omittingEmptySubsequences: false).joined(separator: "\n")
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
    guard let offset = off_t(exactly: address) else { return [] }
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count, let start = buffer.baseAddress {
        // Sound: the buffer holds `count` bytes, of which `filled` have been written.
        let got = unsafe pread(descriptor, start + filled, count - filled, offset &+ off_t(filled))
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = errno }
        if got <= 0 { break }
        filled += got
      }
    }
    // Nothing is mapped there: whoever asks knows what that means.
    guard failure == 0 || failure == EIO || failure == EFAULT else {
      throw RemoteProcess.refusal(failure, pid)
    }
    return bytes
  }
}
