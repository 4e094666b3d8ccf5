internal import BinaryImage
internal import LibC

/// A sink that gathers output and hands it on in large pieces, or keeps all of it.
@safe final class ByteSink {
  private static let pieceSize = 1 << 16

  private let drain: (([UInt8]) -> Int32)?
  // Sound: allocated from init to deinit and never handed out; `count` of `capacity` bytes are written.
  private var start: UnsafeMutablePointer<UInt8>
  private var capacity = pieceSize
  /// The number of bytes that were not handed on yet.
  private(set) var count = 0
  /// The system's error number if output was lost, else 0.
  private(set) var failure: Int32 = 0

  /// Makes a sink that hands its bytes to `drain`, or keeps them without it. `drain` returns the system's error number
  /// if it cannot take them, else 0.
  init(_ drain: (([UInt8]) -> Int32)? = nil) {
    self.drain = drain
    unsafe start = .allocate(capacity: Self.pieceSize)
  }

  /// Makes a sink for a file descriptor that calls `preparing` before each write.
  convenience init(descriptor: Int32, after preparing: @escaping ([UInt8]) -> Void = { _ in }) {
    self.init { bytes in
      preparing(bytes)
      return bytes.write(to: descriptor)
    }
  }

  deinit { unsafe start.deallocate() }

  /// Returns what `body` writes.
  static func bytes(_ body: (ByteSink) -> Void) -> [UInt8] {
    let sink = ByteSink()
    body(sink)
    return sink.bytes(from: 0)
  }

  // MARK: - Writing

  @inline(__always)
  private func makeRoom(for more: Int) {
    if more > capacity - count { makeMoreRoom(for: more) }
  }

  private func makeMoreRoom(for more: Int) {
    flush()
    guard more > capacity - count else { return }
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    unsafe larger.initialize(from: start, count: count)
    unsafe start.deallocate()
    unsafe start = larger
  }

  @inline(__always)
  func write(_ byte: UInt8) {
    makeRoom(for: 1)
    unsafe start[count] = byte
    count += 1
  }

  func write(_ bytes: Span<UInt8>) {
    makeRoom(for: bytes.count)
    unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let from = bytes.baseAddress else { return }
      unsafe (start + count).initialize(from: from, count: bytes.count)
    }
    count += bytes.count
  }

  func write(_ bytes: [UInt8]) { write(bytes.span) }

  func write(_ bytes: ArraySlice<UInt8>) { write(bytes.span) }

  /// Writes bytes, and hands many bytes over without a copy.
  func write(piece bytes: [UInt8]) {
    guard let drain, bytes.count >= Self.pieceSize / 2 else { return write(bytes) }
    flush()
    if failure == 0 { failure = drain(bytes) }
  }

  func write(_ text: String) { write(text.utf8Span.span) }

  /// Writes a literal of the tool, which costs less than a `String`.
  @inline(__always)
  func write(word: StaticString) {
    let size = word.utf8CodeUnitCount
    makeRoom(for: size)
    // Sound: the bytes of a literal are where this pointer says, for the life of the process.
    unsafe (start + count).initialize(from: word.utf8Start, count: size)
    count += size
  }

  /// Writes `"name":`, and a comma before it if it follows a value.
  func write(key name: StaticString, follows: Bool) {
    let size = name.utf8CodeUnitCount
    makeRoom(for: size + 4)
    var end = unsafe start + count
    func put(_ character: Unicode.Scalar) {
      unsafe end.initialize(to: UInt8(ascii: character))
      unsafe end += 1
    }
    if follows { put(",") }
    put("\"")
    // Sound: the bytes of a literal are where this pointer says, for the life of the process.
    unsafe end.initialize(from: name.utf8Start, count: size)
    unsafe end += size
    put("\"")
    put(":")
    count += size + (follows ? 4 : 3)
  }

  func write(blanks: Int) {
    guard blanks > 0 else { return }
    makeRoom(for: blanks)
    unsafe (start + count).initialize(repeating: UInt8(ascii: " "), count: blanks)
    count += blanks
  }

  func write(decimal number: Int) {
    if number < 0 { write(UInt8(ascii: "-")) }
    write(decimal: UInt64(number.magnitude))
  }

  func write(decimal number: UInt64) {
    var (digits, limit) = (1, 10 as UInt64)
    while digits < 20, number >= limit {
      digits += 1
      limit = digits < 20 ? limit * 10 : limit
    }
    write(number, digits: digits, radix: 10)
  }

  /// Writes a number in base 16, as `0x3018`, and blanks up to a width.
  func write(hexadecimal number: UInt64, padding width: Int = 0) {
    let digits = max(1, (67 - number.leadingZeroBitCount) / 4)
    makeRoom(for: 2)
    unsafe start[count] = UInt8(ascii: "0")
    unsafe start[count + 1] = UInt8(ascii: "x")
    count += 2
    write(number, digits: digits, radix: 16)
    write(blanks: width - digits - 2)
  }

  /// Writes two digits of base 16 for each byte.
  func write(digitsOf bytes: Span<UInt8>) {
    for index in bytes.indices { write(UInt64(bytes[index]), digits: 2, radix: 16) }
  }

  @inline(__always)
  private func write(_ number: UInt64, digits: Int, radix: UInt64) {
    makeRoom(for: digits)
    var rest = number
    var position = count + digits
    while position > count {
      position -= 1
      let digit = UInt8(truncatingIfNeeded: rest % radix)
      unsafe start[position] = digit &+ (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
      rest /= radix
    }
    count += digits
  }

  // MARK: - What was written

  /// Returns the kept bytes from `position` on.
  func bytes(from position: Int) -> [UInt8] {
    precondition(0...count ~= position)
    return unsafe Array(UnsafeBufferPointer(start: start + position, count: count - position))
  }

  /// Writes a range of the bytes of another sink.
  func write(_ range: Range<Int>, of other: ByteSink) {
    precondition(range.lowerBound >= 0 && range.upperBound <= other.count && other !== self)
    makeRoom(for: range.count)
    unsafe (start + count).initialize(from: other.start + range.lowerBound, count: range.count)
    count += range.count
  }

  /// Returns the number of characters from `position` on.
  func width(from position: Int) -> Int {
    precondition(0...count ~= position)
    // All but the first byte of a character begin with 10.
    let bytes = unsafe UnsafeBufferPointer(start: start + position, count: count - position)
    return unsafe bytes.count { $0 & 0xc0 != 0x80 }
  }

  /// Discards all kept bytes.
  func removeAll() { count = 0 }

  /// Hands on the kept bytes. After a failure they are lost.
  func flush() {
    guard let drain, count > 0 else { return }
    if failure == 0 { failure = drain(bytes(from: 0)) }
    count = 0
  }

  /// Writes a message of the tool as a line.
  func say(_ line: String) {
    write("section-dump: \(line.escaped)\n")
  }

  /// Hands over the rest of standard output. If some was lost, writes that to `errors` and returns false.
  func finish(_ errors: ByteSink) -> Bool {
    flush()
    if failure != 0 { errors.say("standard output: \(systemMessage(failure))") }
    errors.flush()
    return failure == 0
  }
}

extension [UInt8] {
  /// Writes all bytes to a descriptor. Returns the system's error number if that fails, else 0.
  func write(to descriptor: Int32) -> Int32 {
    var written = 0
    while written < count {
      // Sound: the pointer covers the bytes that are left, for the duration of the call.
      let more = unsafe withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        return unsafe LibC.write(descriptor, rest.baseAddress, rest.count)
      }
      if more > 0 { written += more } else if errno != EINTR { return errno }
    }
    return 0
  }
}
