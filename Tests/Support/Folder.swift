public import Foundation

/// A temporary folder of a test.
public struct Folder: Sendable {
  /// The location of the folder.
  public let url: URL

  /// The path of the folder, without a slash at the end.
  public var path: String { url.path }

  /// The folder that contains all others. It is removed when the process ends.
  private static let root: URL = {
    let root = FileManager.default.temporaryDirectory
      .appendingPathComponent("beehive-tests-\(UUID().uuidString)", isDirectory: true)
    atexit { try? FileManager.default.removeItem(at: Folder.root) }
    return root
  }()

  /// Makes a new folder.
  public init() throws {
    url = Self.root.appendingPathComponent(UUID().uuidString, isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// Returns the location of a file or folder in it.
  public func place(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// Writes a file, and makes the folders on the way to it.
  @discardableResult
  public func write(_ bytes: Data, as name: String) throws -> URL {
    let file = place(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try bytes.save(as: file)
    return file
  }

  /// Writes a text file, and makes the folders on the way to it.
  @discardableResult
  public func write(_ text: String, as name: String) throws -> URL {
    try write(Data(text.utf8), as: name)
  }

  /// Makes a folder in it, and the folders on the way.
  @discardableResult
  public func makeFolder(_ name: String) throws -> URL {
    let folder = place(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Removes the folder before the process ends.
  public func remove() { try? FileManager.default.removeItem(at: url) }
}

extension Data {
  /// Writes a file that no program which starts meanwhile keeps open.
  public func save(as file: URL) throws { try Command.starting.withLock { try write(to: file) } }
}

/// Makes a symbolic link.
///
/// - Parameters:
///   - path: Its path.
///   - target: What it leads to, as text.
/// - Throws: An error of Foundation if the link cannot be made.
public func makeLink(at path: String, to target: String) throws {
  try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
}
