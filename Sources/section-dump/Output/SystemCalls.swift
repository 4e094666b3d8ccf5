internal import LibC

extension [UInt8] {
  /// Hands all bytes to a call that writes some of those it is given; answers the system's reason
  /// where it cannot, else 0.
  func writeAll(_ call: (UnsafeRawBufferPointer) -> Int) -> Int32 {
    var written = 0
    while written < count {
      // Sound: the pointer covers the bytes that are left, for the duration of the call.
      let more = unsafe withUnsafeBytes { bytes in
        unsafe call(UnsafeRawBufferPointer(rebasing: bytes[written...]))
      }
      if more > 0 { written += more } else if errno != EINTR { return errno }
    }
    return 0
  }

  /// At most `count` bytes of a call that reads some of those it is asked for, told how many there are
  /// already; fewer where no more come, with the system's reason where there is one, else 0.
  static func reading(
    _ count: Int, _ call: (UnsafeMutableRawBufferPointer, _ filled: Int) -> Int
  ) -> (bytes: [UInt8], failure: Int32) {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        // Sound: the buffer holds `count` bytes, of which `filled` have been written.
        let rest = unsafe UnsafeMutableRawBufferPointer(
          UnsafeMutableBufferPointer(rebasing: buffer[filled..<count]))
        let more = unsafe call(rest, filled)
        if more < 0, errno == EINTR { continue }
        if more < 0 { failure = errno }
        if more <= 0 { break }
        filled += more
      }
    }
    return (bytes, failure)
  }
}
