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

  /// Writes all bytes to a descriptor; answers as above.
  func write(to descriptor: Int32) -> Int32 {
    // Sound: the pointer covers the bytes that are left, for the duration of the call.
    unsafe writeAll { unsafe LibC.write(descriptor, $0.baseAddress, $0.count) }
  }
}
