internal import BinaryImage
internal import LibC

/// A socket between a child, which is asked through it, and its parent.
enum Channel {
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

  /// Sends a message, its size before it; false where the other end is closed.
  static func send(message: [UInt8], to descriptor: Int32) -> Bool {
    send(message.count.bytes + message, to: descriptor)
  }

  static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    // Sound: the pointer covers the bytes that are left, for the duration of the call.
    unsafe bytes.writeAll {
      unsafe LibC.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
      == 0
  }

  /// The message that was sent; nil once the other end is closed, or says nothing in time.
  static func receiveMessage(from descriptor: Int32) -> [UInt8]? {
    guard let count = receive(8, from: descriptor).map(Int.init(bytes:)), count >= 0 else {
      return nil
    }
    return receive(count, from: descriptor)
  }

  /// As many bytes as were sent; nil as above.
  static func receive(_ count: Int, from descriptor: Int32) -> [UInt8]? {
    // Sound: the pointer covers what is left of the array, for the duration of the call.
    let (bytes, _) = unsafe [UInt8].reading(count) { rest, _ in
      unsafe recv(descriptor, rest.baseAddress, rest.count, 0)
    }
    return bytes.count == count ? bytes : nil
  }
}

extension Int {
  /// A size before the bytes that it counts: eight bytes, the lowest first.
  var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }

  init(bytes: [UInt8]) { self = bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
}
