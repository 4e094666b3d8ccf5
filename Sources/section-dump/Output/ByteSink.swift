internal import BinaryImage
internal import LibC

/// Gathers output and hands it on in large pieces.
final class ByteSink {
  private static let capacity = 1 << 16

  private let drain: ([UInt8]) -> Int32
  private var buffer: [UInt8] = []
  /// The system's reason why output was lost; 0 while all is well.
  private(set) var failure: Int32 = 0

  /// Gathers what `drain` does something with; it answers the system's reason where it cannot.
  init(_ drain: @escaping ([UInt8]) -> Int32) {
    self.drain = drain
  }

  /// Gathers what is written to a file descriptor, each time after `preparing` for it.
  convenience init(descriptor: Int32, after preparing: @escaping ([UInt8]) -> Void = { _ in }) {
    self.init { bytes in
      preparing(bytes)
      return bytes.write(to: descriptor)
    }
  }

  /// What `body` writes.
  static func bytes(_ body: (ByteSink) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    let sink = ByteSink { more in
      bytes += more
      return 0
    }
    body(sink)
    sink.flush()
    return bytes
  }

  func write(_ text: String) { write(text.utf8) }

  func write(_ byte: UInt8) { append(upTo: 1) { $0.append(byte) } }

  func write(_ bytes: some Collection<UInt8>) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.capacity { flush() }
  }

  /// Writes at most `count` bytes, which costs less than one after the other.
  func append(upTo count: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
    buffer.append(addingCapacity: count, initializingWith: body)
    if buffer.count >= Self.capacity { flush() }
  }

  /// Hands on what was gathered; after a failure, nothing more is tried.
  func flush() {
    if !buffer.isEmpty, failure == 0 { failure = drain(buffer) }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes a line of what the tool says about itself.
  func say(_ line: String) {
    write("section-dump: \(line.escaped)\n")
  }

  /// Hands over the rest of standard output; false, once told to `errors`, where some was lost.
  func finish(_ errors: ByteSink) -> Bool {
    flush()
    if failure != 0 { errors.say("standard output: \(systemMessage(failure))") }
    errors.flush()
    return failure == 0
  }
}
