internal import BinaryImage
internal import LibC

/// Files without a name, for what is too large to be kept in memory.
enum AnonymousFile {
  /// A file that is gone once its descriptor is closed; children have it where that is wanted.
  static func open(isInherited: Bool = true) throws(ImageError) -> Int32 {
    guard let stream = unsafe tmpfile() else { throw failure }
    // Sound: the stream is open until it is closed here, once.
    let descriptor = unsafe dup(fileno(stream))
    unsafe fclose(stream)
    guard descriptor >= 0 else { throw failure }
    if !isInherited { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return descriptor
  }

  private static var failure: ImageError {
    ImageError(system: errno, "-", "A temporary file: ")
  }
}
