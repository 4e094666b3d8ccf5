internal import LibC

/// A socket between a child, which is asked through it, and its parent.
enum Channel {
  /// More than any request takes: two copies of a path in hexadecimal digits.
  private static let mostBytes = 1 << 16

  /// Both ends, which no program that is started inherits; nil, with `errno`, where the system has none.
  /// Ours waits for an answer no longer than `ChildLimits.patience`, then with `EAGAIN`.
  static func pair() -> (ours: Int32, theirs: Int32)? {
    var ends: [Int32] = [-1, -1]
    #if canImport(Musl)
      let type = SOCK_STREAM | SOCK_CLOEXEC
    #else
      let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #endif
    // Sound: the array has room for both numbers.
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
    var patience = timeval(tv_sec: ChildLimits.patience, tv_usec: 0)
    // Sound: the structure lives for the duration of the call.
    unsafe setsockopt(
      ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    return (ends[0], ends[1])
  }

  /// Sends a text, its size in four bytes before it; false where the other end is closed.
  static func send(_ text: String, to descriptor: Int32) -> Bool {
    let bytes = Array(text.utf8)
    let size = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: bytes.count >> $0) }
    return send(size + bytes, to: descriptor)
  }

  static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    let flags = Int32(MSG_NOSIGNAL)
    var sent = 0
    while sent < bytes.count {
      // Sound: the pointer covers the bytes that are left, for the duration of the call.
      let count = unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
        return unsafe systemSend(descriptor, rest.baseAddress, rest.count, flags)
      }
      if count > 0 { sent += count } else if errno != EINTR { return false }
    }
    return true
  }

  /// The text that was sent; nil once the other end is closed, or says nothing in time.
  static func receiveText(from descriptor: Int32) -> String? {
    guard let size = receive(4, from: descriptor) else { return nil }
    let count = size.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard let bytes = receive(count, from: descriptor) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The byte that was sent; nil as above.
  static func receiveByte(from descriptor: Int32) -> UInt8? {
    receive(1, from: descriptor)?.first
  }

  private static func receive(_ count: Int, from descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      // Sound: the pointer covers what is left of the array, for the duration of the call.
      let got = unsafe bytes.withUnsafeMutableBytes { bytes in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
        return unsafe recv(descriptor, rest.baseAddress, rest.count, 0)
      }
      if got > 0 { filled += got } else if got == 0 || errno != EINTR { return nil }
    }
    return bytes
  }
}

/// `send(2)`, which a method of this name hides.
private let systemSend = unsafe send
