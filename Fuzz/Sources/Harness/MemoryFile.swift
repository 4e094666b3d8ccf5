internal import Glibc

/// A file in memory without a path but its descriptor's. Its contents change from one input to the next.
public final class MemoryFile {
  private let descriptor: Int32

  /// Makes an empty file.
  public init() {
    var name = Array("/dev/shm/beehive-XXXXXX".utf8CString)
    // Sound: the buffer ends in NUL, and mkstemp writes only over its last six letters.
    descriptor = unsafe name.withUnsafeMutableBufferPointer { text in
      guard let text = text.baseAddress else { return -1 }
      let descriptor = unsafe mkstemp(text)
      unsafe unlink(text)
      return descriptor
    }
  }

  deinit { close(descriptor) }

  /// The path of the file, as bytes.
  public var path: [UInt8] { Array("/proc/self/fd/\(descriptor)".utf8) }

  /// Replaces the file's contents with these bytes.
  public func write(_ bytes: [UInt8]) {
    // Sound: the buffer outlives the call, which gets its length.
    let written = unsafe bytes.withUnsafeBytes { buffer in
      unsafe pwrite(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    precondition(written == bytes.count && ftruncate(descriptor, off_t(bytes.count)) == 0)
  }
}
