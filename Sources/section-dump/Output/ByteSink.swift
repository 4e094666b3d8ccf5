#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Gathers output and hands it to a file descriptor in large pieces.
final class ByteSink {
  private static let capacity = 1 << 16

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// The system's reason why output was lost; 0 while all is well.
  private(set) var failure: Int32 = 0

  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.capacity { flush() }
  }

  func write(_ bytes: ArraySlice<UInt8>) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.capacity { flush() }
  }

  func write(_ byte: UInt8) {
    buffer.append(byte)
    if buffer.count >= Self.capacity { flush() }
  }

  /// Writes what was gathered; after a failure, nothing more is tried.
  func flush() {
    var written = 0
    while written < buffer.count, failure == 0 {
      // Sound: the pointer covers the bytes that are left, for the duration of the call.
      let count = unsafe buffer.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        return unsafe systemWrite(descriptor, rest.baseAddress, rest.count)
      }
      if count > 0 {
        written += count
      } else if errno != EINTR {
        failure = errno
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// `write(2)`, which a method of this name hides.
private let systemWrite = unsafe write

/// The system's words for an error number.
func systemMessage(_ number: Int32) -> String {
  // Sound: strerror returns a NUL-terminated text that lives until the next call.
  guard let text = unsafe strerror(number) else { return "error \(number)" }
  return unsafe String(cString: text)
}
