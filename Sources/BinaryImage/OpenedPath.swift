internal import LibC

/// What became of a path that was to be opened for reading.
enum OpenedPath {
  /// The descriptor of a regular file, which now belongs to the caller, and what is said of it.
  case file(Int32, stat)
  /// It leads to something of this mode that is no regular file.
  case refused(mode_t)
  /// The system says so.
  case failed(errno: Int32)
  /// It is empty or holds a NUL.
  case noPath

  /// Opens a path, which need not be UTF-8, if it leads to a regular file.
  ///
  /// Nothing else is opened, since opening alone acts on some devices. A look before is needless where
  /// the loader has mapped the file.
  init(_ path: [UInt8], wasMapped: Bool) {
    self = unsafe path.cText.withUnsafeBufferPointer { terminated in
      guard let start = terminated.baseAddress else { return .noPath }
      return unsafe Self(at: start, count: path.count, wasMapped: wasMapped)
    }
  }

  /// The same for a path that is text.
  init(_ path: String, wasMapped: Bool) {
    self = unsafe path.withCString {
      unsafe Self(at: $0, count: path.utf8.count, wasMapped: wasMapped)
    }
  }

  /// Sound: the caller's path ends in NUL and outlives the call.
  private init(at path: UnsafePointer<CChar>, count: Int, wasMapped: Bool) {
    guard count > 0, unsafe strlen(path) == count else {
      self = .noPath
      return
    }
    var status = stat()
    if !wasMapped {
      guard unsafe stat(path, &status) == 0 else {
        self = .failed(errno: errno)
        return
      }
      guard status.st_mode & S_IFMT == S_IFREG else {
        self = .refused(status.st_mode)
        return
      }
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    if descriptor < 0 {
      self = .failed(errno: errno)
    } else if !wasMapped {
      // Should the path lead elsewhere by now, what is said of it is only a bound.
      self = .file(descriptor, status)
    } else if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      self = .file(descriptor, status)
    } else {
      close(descriptor)
      self = .refused(status.st_mode)
    }
  }

  /// Why there is no file.
  var refusal: String {
    switch self {
    case .file: ""
    case .refused(let mode): "It is \(Self.kind(of: mode)); only regular files are read."
    case .failed(let number): "\(systemMessage(number))."
    case .noPath: "The path is empty or holds a NUL; give the path of a file."
    }
  }

  private static func kind(of mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a directory"
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    case S_IFBLK, S_IFCHR: "a device"
    default: "no regular file"
    }
  }
}
