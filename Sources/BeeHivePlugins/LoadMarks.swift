internal import BinaryImage
internal import LibC
internal import PluginFiles

/// Marks of loads under way. A constructor that ends or hangs its process leaves its mark for the next start.
///
/// A mark's name has the file's name, a stamp of its contents, the process namespace and the process number. The
/// process keeps the mark locked. Its children may keep the lock too, so the number tells whether the process lives.
struct LoadMarks {
  let folder: String

  /// Chooses the host's folder, or else `plugins` in the program's folder for user state; nil if there is none.
  init?(in given: String?) {
    let state = userFolder("XDG_STATE_HOME", orInHome: ".local/state")
    guard let folder = given ?? state.map({ "\($0)/\(ownProgram)/plugins" }) else { return nil }
    self.folder = folder
  }

  /// The problem of a process that has no folder for marks.
  static let withoutFolder = unmarked(
    "marks", "Neither XDG_STATE_HOME nor HOME says where they are.")

  private static func unmarked(_ place: String, _ reason: String) -> ImageError {
    ImageError(
      .unreadable, image: place,
      message: "\(reason) A plugin that ends the process is not found out.")
  }

  /// Returns the marks that were left behind, by the text that identifies the contents of each file.
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
      let isFree = flock(mark, LOCK_SH | LOCK_NB) == 0
      // Its process may have taken it away just now.
      guard isFree || isHere && kill(process, 0) != 0 && errno == ESRCH,
        unsafe access("\(folder)/\(name)", F_OK) == 0
      else { continue }
      left[Self.contents(parts[parts.count - 3])] = "\(folder)/\(name)"
    }
    return left
  }

  /// Returns the part of a mark's name that identifies the file's contents, whatever the file is called.
  private static func contents(_ name: Substring) -> String {
    name.split(separator: "-").suffix(4).joined(separator: "-")
  }

  /// Returns a text that names a file in its present state.
  static func text(of path: String, _ stamp: FileStamp) -> String {
    // A leading point would hide the mark, and a name has at most 255 bytes.
    let name = String(decoding: path.fileName.utf8.drop { $0 == 0x2e }.prefix(60), as: UTF8.self)
    return "\(name)-\(stamp.text)"
  }

  /// Runs `load` under a mark, or without a mark if none can be written. Before that, `noted` gets the reason, or nil.
  func whileLoading<Result>(
    _ path: String, _ stamp: FileStamp, noted: (ImageError?) -> Void, _ load: () -> Result
  ) -> Result {
    // Waits for constructors on other threads: if one of them ends the process, this file is not blamed.
    // Sound: the handle of the program itself is never closed.
    _ = unsafe dlopen(nil, RTLD_LAZY | RTLD_NOLOAD)
    makeFolders(to: folder)
    let text = "\(Self.text(of: path, stamp)).\(processNamespace).\(getpid())"
    // Hidden names are ignored, so the mark shows only once it is locked.
    let draft = "\(folder)/.\(text)"
    let mark = unsafe open(draft, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard mark >= 0 else {
      noted(Self.unmarked(folder, "No mark can be written: \(systemMessage(errno))."))
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
