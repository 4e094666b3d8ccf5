internal import BinaryImage
internal import LibC

/// Standard input, as a list or as an object file.
enum StandardInput {
  /// A path that leads to the whole of standard input and can be read at any offset.
  ///
  /// What comes through a pipe is kept in a temporary file; a file is read where it is.
  static func seekablePath(limit: Int) throws(ImageError) -> String {
    var status = stat()
    // Sound: the structure lives for the duration of the call.
    if unsafe fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      return "/dev/fd/\(STDIN_FILENO)"
    }
    let descriptor = try anonymousFile()
    try forEachChunk(limit: limit) { chunk throws(ImageError) in
      let reason = chunk.write(to: descriptor)
      guard reason == 0 else { throw failure(reason) }
    }
    return "/dev/fd/\(descriptor)"
  }

  /// All of standard input.
  static func read(limit: Int) throws(ImageError) -> [UInt8] {
    var all: [UInt8] = []
    try forEachChunk(limit: limit) { all += $0 }
    return all
  }

  private static func forEachChunk(
    limit: Int, _ body: ([UInt8]) throws(ImageError) -> Void
  ) throws(ImageError) {
    var total = 0
    while true {
      // Sound: the pointer covers what is left of the chunk, for the duration of the call.
      let (chunk, reason) = unsafe [UInt8].reading(1 << 16) { rest, _ in
        unsafe LibC.read(STDIN_FILENO, rest.baseAddress, rest.count)
      }
      guard reason == 0 else { throw failure(reason) }
      if chunk.isEmpty { return }
      total += chunk.count
      guard total <= limit else {
        throw ImageError(
          .tooLarge, image: "-",
          message: "Standard input holds more than \(limit) bytes; --max-bytes allows more.")
      }
      try body(chunk)
    }
  }

  /// A file without a name, for what is too large to be kept in memory; it is gone once its descriptor is closed.
  private static func anonymousFile() throws(ImageError) -> Int32 {
    guard let stream = unsafe tmpfile() else { throw failure(errno) }
    defer { unsafe fclose(stream) }
    // Sound: the stream is open until it is closed here, once.
    let descriptor = unsafe dup(fileno(stream))
    guard descriptor >= 0 else { throw failure(errno) }
    return descriptor
  }

  private static func failure(_ number: Int32) -> ImageError {
    ImageError(system: number, "-", "Standard input: ")
  }
}
