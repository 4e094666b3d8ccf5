#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A regular file that is open for reading; closed when the last reference goes.
///
/// Everything is read with `pread`, nothing is mapped: a file that shrinks is an error, no SIGBUS.
final class OpenedFile {
  /// The name that errors and identities give.
  let name: String
  /// The size when it was opened, in bytes.
  let size: UInt64
  /// How much of it the file system really stores; smaller than `size` in sparse files.
  let allocatedSize: UInt64
  /// The descriptor, for libelf.
  let descriptor: Int32

  /// Opens the regular file at `path`; errors and identities call it `name`.
  ///
  /// Nothing else is opened: opening alone blocks on a FIFO and acts on some devices.
  init(path: [UInt8], name: String) throws(ImageError) {
    func failure(_ reason: String) -> ImageError {
      ImageError(.unreadable, image: name, message: reason)
    }
    guard !path.isEmpty, !path.contains(0) else {
      throw failure("The path is empty or holds a NUL; give the path of a file.")
    }
    var status = stat()
    let descriptor = unsafe (path + [0]).withUnsafeBufferPointer { bytes -> Int32 in
      // Sound: the buffer ends in NUL and outlives both calls.
      unsafe bytes.withMemoryRebound(to: CChar.self) { text in
        guard let path = text.baseAddress, unsafe stat(path, &status) == 0 else { return -1 }
        guard status.st_mode & S_IFMT == S_IFREG else { return -2 }
        return unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      }
    }
    if descriptor == -2 { throw failure(Self.refusal(of: status.st_mode)) }
    guard descriptor >= 0 else { throw failure("\(systemMessage(errno)).") }
    // The path may lead elsewhere by now; what is open decides.
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw failure(Self.refusal(of: status.st_mode))
    }
    self.name = name
    self.descriptor = descriptor
    size = UInt64(max(0, status.st_size))
    allocatedSize = UInt64(max(0, status.st_blocks)) &* 512
  }

  deinit { close(descriptor) }

  /// The `count` bytes at `offset`, all of them.
  func read(at offset: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(max(0, count)))
    guard count >= 0, !overflow, end <= size else { throw endsBefore(offset, count) }
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count, let base = buffer.baseAddress {
        // Sound: the buffer holds `count` bytes, of which `filled` have been written.
        let got = unsafe pread(
          descriptor, base + filled, count - filled, off_t(offset) + off_t(filled))
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = errno }
        if got <= 0 { break }
        filled += got
      }
    }
    guard failure == 0 else {
      throw error(.unreadable, "\(systemMessage(failure)).", at: offset)
    }
    guard bytes.count == count else { throw endsBefore(offset, count) }
    return bytes
  }

  /// An error that names this file.
  func error(
    _ code: ImageError.Code, _ message: String, section: String? = nil, at offset: UInt64? = nil
  ) -> ImageError {
    ImageError(
      code, image: name, section: section, offset: offset.map(FileOffset.init(rawValue:)),
      message: message)
  }

  private func endsBefore(_ offset: UInt64, _ count: Int) -> ImageError {
    error(.truncated, "The file ends before the \(count) bytes that should stand here.", at: offset)
  }

  private static func refusal(of mode: mode_t) -> String {
    let kind =
      switch mode & S_IFMT {
      case S_IFDIR: "a directory"
      case S_IFIFO: "a FIFO"
      case S_IFSOCK: "a socket"
      case S_IFBLK, S_IFCHR: "a device"
      default: "no regular file"
      }
    return "It is \(kind); only regular files are read."
  }
}

/// The system's text for an error number.
private func systemMessage(_ number: Int32) -> String {
  // Sound: strerror answers a NUL-terminated string that lives until this thread's next call.
  guard let text = unsafe strerror(number) else { return "error \(number)" }
  return unsafe String(cString: text)
}
