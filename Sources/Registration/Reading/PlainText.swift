/// Text that is recognised eight bytes at a time.
///
/// A word is looked at as eight lanes; the highest bit of a lane answers for its byte. The functions
/// that look for something find the first one exactly; a carry can only raise lanes behind it.
extension Span<UInt8> {
  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var highs: UInt64 { 0x8080_8080_8080_8080 }

  /// The eight bytes from `offset` on, the first of them lowest.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= count - 8)
    return unsafe word(atChecked: offset)
  }

  /// All bytes of a span of fewer than eight.
  var shortWord: UInt64 {
    var word: UInt64 = 0
    for index in indices { word |= UInt64(self[index]) << (8 * UInt64(index)) }
    return word
  }

  /// Whether all bytes are ASCII.
  var isASCII: Bool {
    var bits: UInt64 = 0
    forEachWord { bits |= $0 }
    return bits & Self.highs == 0
  }

  /// Returns whether all bytes are ASCII, none of them a control character or `byte`.
  func isPrintable(without byte: UInt8) -> Bool {
    let unwanted = UInt64(byte) &* Self.ones
    var bits: UInt64 = 0
    forEachWord { word in
      let lanes = word ^ unwanted
      bits |= word | (word &- 0x20 &* Self.ones) & ~word | (lanes &- Self.ones) & ~lanes
    }
    return bits & Self.highs == 0
  }

  /// The position of the first `byte` from `start` on; nil where there is none.
  @inline(__always)
  func first(_ byte: UInt8, from start: Int) -> Int? {
    var position = start
    let pattern = UInt64(byte) &* Self.ones
    while position <= count &- 8 {
      // Sound: eight bytes are left.
      let lanes = unsafe word(atChecked: position) ^ pattern
      let zeros = (lanes &- Self.ones) & ~lanes & Self.highs
      if zeros != 0 { return position &+ zeros.trailingZeroBitCount &>> 3 }
      position &+= 8
    }
    while position < count {
      if self[position] == byte { return position }
      position &+= 1
    }
    return nil
  }

  /// Calls `body` with words that hold every byte, some of them twice; a short span is filled up with
  /// blanks.
  @inline(__always)
  private func forEachWord(_ body: (UInt64) -> Void) {
    guard count >= 8 else {
      let blanks = 0x20 &* Self.ones
      body(isEmpty ? blanks : shortWord | blanks << (8 * UInt64(count)))
      return
    }
    var position = 0
    while position < count &- 8 {
      // Sound, as below: eight bytes are left.
      body(unsafe word(atChecked: position))
      position &+= 8
    }
    body(unsafe word(atChecked: count &- 8))
  }

  @unsafe @inline(__always)
  private func word(atChecked offset: Int) -> UInt64 {
    unsafe UInt64(
      littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }
}
