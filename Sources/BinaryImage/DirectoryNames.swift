package import LibC

/// Returns what a directory holds, without `.` and `..`, in bytewise order.
///
/// - Parameter path: The directory, as the system takes it.
/// - Returns: The names.
/// - Throws: ``ImageError`` where the directory cannot be read.
package func directoryNames(of path: [UInt8]) throws(ImageError) -> [[UInt8]] {
  let name = String(decoding: path, as: UTF8.self)
  // Sound: the text outlives the call; the stream is closed below.
  guard let stream = unsafe opendir(path.cText) else { throw ImageError(system: errno, name) }
  defer { unsafe closedir(stream) }
  var names: [[UInt8]] = []
  while true {
    errno = 0
    // Sound: the entry is valid until the next readdir, and its name is copied before that.
    guard let entry = unsafe readdir(stream) else { break }
    let text = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
      unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 1) { text in
        unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
      }
    }
    guard text != [0x2e], text != [0x2e, 0x2e] else { continue }
    names.append(text)
  }
  guard errno == 0 else { throw ImageError(system: errno, name) }
  names.sort { $0.lexicographicallyPrecedes($1) }
  return names
}

/// Returns what the system says of what a path leads to; nil where it does not.
package func fileStatus(of path: some Collection<UInt8>, followingLinks: Bool) -> stat? {
  var status = stat()
  let text = path.cText
  // Sound: the text ends in NUL and outlives the call.
  let result = unsafe followingLinks ? stat(text, &status) : lstat(text, &status)
  return result == 0 ? status : nil
}

extension stat {
  /// Whether it is one of a directory.
  package var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
}

/// Returns what is said of the regular file that a path leads to, without opening it.
///
/// - Parameter path: The path, as the system takes it; links are followed.
/// - Returns: The file's stamp.
/// - Throws: ``ImageError`` that says what the path leads to instead.
package func fileStamp(of path: some Collection<UInt8>) throws(ImageError) -> FileStamp {
  let text = path.cText
  var status = stat()
  // Sound: the text ends in NUL and outlives the call.
  let failure = unsafe stat(text, &status) == 0 ? 0 : errno
  if failure == 0, status.st_mode & S_IFMT == S_IFREG { return FileStamp(status) }
  let name = String(decoding: path, as: UTF8.self)
  if failure == ENOENT, fileStatus(of: path, followingLinks: false) != nil {
    throw ImageError(.unreadable, image: name, message: "It is a link that leads nowhere.")
  }
  let found = failure == 0 ? OpenedPath.refused(status.st_mode) : .failed(errno: failure)
  throw ImageError(.unreadable, image: name, message: found.refusal)
}
