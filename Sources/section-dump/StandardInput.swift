internal import BinaryImage
internal import LibC

/// Standard input, as a list or as an object file.
enum StandardInput {
  /// A path that leads to the whole of standard input and can be read at any offset.
  ///
  /// What comes through a pipe is kept in a temporary file; a file is read where it stands.
  static func seekablePath(limit: Int) throws(ImageError) -> String {
    var status = stat()
    // Sound: the structure lives for the duration of the call.
    if unsafe fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      return "/dev/fd/\(STDIN_FILENO)"
    }
    let descriptor = try AnonymousFile.open()
    try copy(to: descriptor, limit: limit)
    return "/dev/fd/\(descriptor)"
  }

  /// All of standard input.
  static func read(limit: Int) throws(ImageError) -> [UInt8] {
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = try read(into: &chunk)
      guard count > 0 else { return all }
      guard all.count + count <= limit else { throw tooLarge(limit) }
      all += chunk[..<count]
    }
  }

  private static func copy(to descriptor: Int32, limit: Int) throws(ImageError) {
    let sink = ByteSink(descriptor: descriptor)
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    var total = 0
    while true {
      let count = try read(into: &chunk)
      guard count > 0 else { break }
      total += count
      guard total <= limit else { throw tooLarge(limit) }
      sink.write(chunk[..<count])
      guard sink.failure == 0 else { break }
    }
    sink.flush()
    guard sink.failure == 0 else { throw failure(systemMessage(sink.failure)) }
  }

  private static func read(into chunk: inout [UInt8]) throws(ImageError) -> Int {
    while true {
      // Sound: the pointer covers the whole chunk for the duration of the call.
      let count = unsafe chunk.withUnsafeMutableBytes { bytes in
        unsafe systemRead(STDIN_FILENO, bytes.baseAddress, bytes.count)
      }
      if count >= 0 { return count }
      guard errno == EINTR else { throw failure(systemMessage(errno)) }
    }
  }

  private static func tooLarge(_ limit: Int) -> ImageError {
    ImageError(
      .tooLarge, image: "-",
      message: "Standard input holds more than \(limit) bytes; --max-bytes allows more.")
  }

  private static func failure(_ reason: String) -> ImageError {
    ImageError(.unreadable, image: "-", message: "Standard input: \(reason).")
  }
}

/// `read(2)`, which a method of this name hides.
private let systemRead = unsafe read
