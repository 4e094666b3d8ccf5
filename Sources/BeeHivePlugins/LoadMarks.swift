internal import BinaryImage
internal import LibC
internal import PluginFiles

/// Marks in a folder: each says that a process is loading a file. A constructor that ends or hangs its process leaves its
/// mark behind, and the next start finds it.
///
/// A mark has the name of the file, what tells its contents from others, the namespace of processes and the number of the
/// process in it. That keeps it locked, and so may children that it leaves behind: its number tells whether it lives.
struct LoadMarks {
  let folder: String

  /// Those in a folder that the host gives, or in `plugins` below the program's own in the user's folder for states; nil if
  /// there is no such folder.
  init?(in given: String?) {
    let own = userFolder("XDG_STATE_HOME", orInHome: ".local/state").map {
      "\($0)/\(ownProgram)/plugins"
    }
    guard let folder = given ?? own else { return nil }
    self.folder = folder
  }

  /// The problem of a process that has no folder for marks.
  static let withoutFolder = ImageError(
    .unreadable, image: "marks",
    message:
      "Neither XDG_STATE_HOME nor HOME says where they are. A plugin that ends the process is not found out."
  )

  /// The marks that were left behind, each under the text that tells the contents of its file.
  func left() -> [String: String] {
    var left: [String: String] = [:]
    for bytes in (try? directoryNames(of: Array(folder.utf8))) ?? [] {
      let name = String(decoding: bytes, as: UTF8.self)
      let parts = name.hasPrefix(".") ? [] : name.split(separator: ".")
      guard parts.count > 2 else { continue }
      let mark = unsafe open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard mark >= 0 else { continue }
      defer { close(mark) }
      let process = pid_t(parts[parts.count - 1]) ?? 0
      let isHere = parts[parts.count - 2] == processNamespace
      if flock(mark, LOCK_SH | LOCK_NB) == 0 || isHere && kill(process, 0) != 0 && errno == ESRCH {
        left[Self.contents(parts[parts.count - 3])] = "\(folder)/\(name)"
      }
    }
    return left
  }

  /// The part of a mark's name that tells the contents of a file, whatever it is called.
  private static func contents(_ name: Substring) -> String {
    name.split(separator: "-").suffix(4).joined(separator: "-")
  }

  /// The text that names a file as it is now.
  static func text(of path: String, _ stamp: FileStamp) -> String {
    // A point would hide it, and a name has at most 255 bytes.
    let name = String(decoding: path.fileName.utf8.drop { $0 == 0x2e }.prefix(60), as: UTF8.self)
    return "\(name)-\(stamp.text)"
  }

  /// Runs `load` while a mark says so; without one if none can be written. `noted` gets the reason for that before, or
  /// nil.
  func whileLoading<Result>(
    _ path: String, _ stamp: FileStamp, noted: (ImageError?) -> Void, _ load: () -> Result
  ) -> Result {
    // Waits for constructors that other threads run: whoever ends the process then has not loaded this file.
    // Sound: the handle of the program itself is never closed.
    _ = unsafe dlopen(nil, RTLD_LAZY | RTLD_NOLOAD)
    makeFolders(to: folder)
    let text = "\(Self.text(of: path, stamp)).\(processNamespace).\(getpid())"
    // Nobody looks at it before it is locked.
    let draft = "\(folder)/.\(text)"
    let mark = unsafe open(draft, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard mark >= 0 else {
      noted(
        ImageError(
          .unreadable, image: folder,
          message:
            "No mark can be written: \(systemMessage(errno)). A plugin that ends the process is not found out."
        ))
      return load()
    }
    noted(nil)
    defer {
      unsafe unlink("\(folder)/\(text)")
      close(mark)
    }
    _ = flock(mark, LOCK_EX)
    unsafe rename(draft, "\(folder)/\(text)")
    return load()
  }
}
