package import BinaryImage
internal import LibC
internal import Registration

/// The plugins that the user of a program has switched off, by their ids.
///
/// They are in a file of the user, `$XDG_CONFIG_HOME/PROGRAM/plugins.json`, else below `~/.config`: `{"off":
/// ["com.example.greet"]}`. A program with more rights than the user who started it (`AT_SECURE`) has no such file.
package struct PluginSwitches: Sendable {
  /// The path of the file; nil if the environment does not say where it is.
  package private(set) var path: String?
  /// The ids of the plugins that are switched off, sorted.
  package private(set) var off: [String] = []
  /// The reason that the file cannot be read; nil if it was read, or is not there.
  private var fault: ImageError?

  /// Reads the file of a program.
  ///
  /// - Parameter program: The name of the program's file, without folders.
  package init(of program: String) {
    let folder = userFolder("XDG_CONFIG_HOME", orInHome: ".config")
    self.init(at: program.isEmpty ? nil : folder.map { "\($0)/\(program)/plugins.json" })
  }

  /// Reads a file, if it is there; without a path nothing is switched off.
  init(at path: String? = nil) {
    self.path = path
    read()
  }

  /// Returns the reason that a plugin must not be loaded, and the remedy; nil if it may be loaded.
  func reason(against id: String) -> (message: String, remedy: Remedy)? {
    if let fault {
      return ("It is not known which plugins the user has switched off: \(fault)", .writeSwitches)
    }
    guard let path, off.contains(id) else { return nil }
    return ("The user has switched it off in \(path).", .switchOn(id))
  }

  // MARK: - Reading

  /// More bytes than any list of plugins has.
  private static let mostBytes = 1 << 20

  private mutating func read() {
    (off, fault) = ([], nil)
    guard let path else { return }
    guard fileStatus(of: path.utf8, followingLinks: true) != nil else {
      // A file that cannot be looked at may have a list.
      if errno != ENOENT && errno != ENOTDIR { fault = ImageError(system: errno, path) }
      return
    }
    do throws(ImageError) {
      let file = try OpenedFile(path: path)
      let isShort = file.size <= UInt64(Self.mostBytes)
      let bytes = isShort ? try file.read(at: 0, count: Int(file.size)) : []
      let ids = JSONValue.texts(in: bytes, under: "off")
      guard let ids, ids.allSatisfy(Attributes.isPluginID) else {
        throw file.error(.unsupported, "It is no list of plugins.")
      }
      off = ids
    } catch { fault = error }
  }

  // MARK: - Writing

  /// Switches a plugin on or off. Writes the file whole or not at all, one process after the other.
  ///
  /// - Parameters:
  ///   - id: The plugin's id.
  ///   - isOn: Whether it may be loaded from now on.
  /// - Throws: `ImageError` if it is no id, or the file cannot be read or written; then it is as before.
  package mutating func set(_ id: String, isOn: Bool) throws(ImageError) {
    guard Attributes.isPluginID(id) else {
      throw ImageError(
        .unsupported, image: id, message: "It is no id of a plugin: write com.example.greet.")
    }
    guard let path = path?.resolved else {
      throw ImageError(
        .unreadable, image: "plugins.json",
        message: "Neither XDG_CONFIG_HOME nor HOME says where it is.")
    }
    let folder = path.folder
    makeFolders(to: folder)
    let lock = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(lock) }
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw Self.failure(folder) }
    read()
    if let fault { throw fault }
    let ids = off.filter { $0 != id } + (isOn ? [] : [id])
    let text = JSONValue.object([("off", .texts(ids.sorted()))]).text + "\n"
    guard replaceFile(at: path, with: Array(text.utf8)) else { throw Self.failure(path) }
    fsync(lock)
    off = ids.sorted()
  }

  private static func failure(_ path: String) -> ImageError {
    ImageError(.unreadable, image: path, message: "It cannot be written: \(systemMessage(errno)).")
  }
}
