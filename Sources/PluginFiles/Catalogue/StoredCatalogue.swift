package import BinaryImage
internal import LibC
internal import Registration

/// What a packager wrote into a directory about the plugins in it: `section-dump catalogue` makes the file.
///
/// It saves reading the files. A user who may write it may as well write plugins, so it is believed only where no one
/// else may; and only of a file that is the one it tells of.
package struct StoredCatalogue {
  /// What the file in a directory is called.
  package static let name = "beehive-catalogue.json"
  private static let version: Int64 = 1
  /// More bytes than the catalogue of any directory has.
  private static let mostBytes: UInt64 = 1 << 26

  private let path: String
  /// The files by the bytes of their names; each is made when it is asked for.
  private let files: [[UInt8]: JSONValue]

  /// Tells of nothing.
  init() { (path, files) = ("", [:]) }

  /// Reads the catalogue of a directory; tells of nothing where it has none.
  ///
  /// - Parameter directory: The directory's path.
  /// - Throws: ``ImageError`` that says why the catalogue that is there is not used.
  package init(in directory: String) throws(ImageError) {
    path = directory + (directory.hasSuffix("/") ? "" : "/") + Self.name
    guard unsafe access(path, F_OK) == 0 else {
      files = [:]
      return
    }
    _ = try fileStamp(of: path.utf8)
    let file = try OpenedFile(path: path, name: path, wasMapped: true)
    let owner = file.access.owner
    guard owner == 0 || owner == geteuid(), !file.access.isWritableByOthers else {
      throw file.error(
        .untrusted,
        "The catalogue is not used: others than root and this user may write it; chmod go-w, or "
          + "remove it.")
    }
    guard file.size <= Self.mostBytes else {
      throw file.error(
        .untrusted, "The catalogue is not used: it has \(file.size) bytes; write it again.")
    }
    let bytes = try file.read(at: 0, count: Int(file.size))
    let value: JSONValue
    do throws(JSONValue.Failure) { value = try JSONValue(reading: bytes.span) } catch {
      throw file.error(
        .malformed, "The catalogue is not used: \(error); section-dump catalogue writes it again.")
    }
    guard value["beehiveCatalogue"]?.integer == Self.version, let list = value["files"]?.array
    else {
      throw file.error(
        .unsupported,
        "The catalogue is not used: it is no catalogue of version \(Self.version); section-dump "
          + "catalogue writes it again.")
    }
    var files: [[UInt8]: JSONValue] = [:]
    for file in list {
      if let name = file["file"]?.string { files[Array(name.utf8)] = file }
    }
    self.files = files
  }

  /// Returns what the catalogue says of a file, if the file is still the one it tells of.
  ///
  /// A file that stands where it was described has to have the same stamp. Elsewhere, as after it was installed,
  /// it has to have the same size, second of modification, ELF header and build-id.
  ///
  /// - Parameters:
  ///   - name: The file's name in the directory.
  ///   - path: Its path.
  ///   - stamp: What the system says of it now.
  /// - Returns: The manifest; nil where the catalogue does not tell of this file.
  /// - Throws: ``ImageError`` where what it says cannot be true.
  func manifest(
    of name: String, at path: String, _ stamp: FileStamp
  ) throws(ImageError) -> PluginManifest? {
    guard let value = files[Array(name.utf8)], let stored = value.storedStamp,
      stored.size == stamp.size
    else {
      return nil
    }
    if stored != stamp {
      // Archives keep no more than the second.
      let wasModifiedThen = stored.modified / 1_000_000_000 == stamp.modified / 1_000_000_000
      guard !stored.isSameFile(as: stamp), wasModifiedThen else { return nil }
    }
    var manifest: PluginManifest
    do throws(StoredFailure) { manifest = try PluginManifest(stored: value, at: path) } catch {
      throw ImageError(
        .malformed, image: self.path,
        message: "What it says of \(name) is not used: \(error.message).")
    }
    if stored == stamp { return manifest }
    let file = try OpenedFile(path: path, name: path, wasMapped: true)
    guard file.stamp == stamp, file.head.starts(with: manifest.header),
      !manifest.identity.id.isEmpty, !manifest.header.isEmpty,
      try ELFFile(file).buildID() == manifest.identity.id
    else { return nil }
    manifest.stamp = stamp
    return manifest
  }

  /// Returns the text of a catalogue.
  ///
  /// - Parameter manifests: The plugins of one directory.
  /// - Returns: A document of JSON, with a line for each plugin.
  package static func text(of manifests: [PluginManifest]) -> String {
    let lines = manifests.map(\.stored.text).joined(separator: ",\n")
    return "{\"beehiveCatalogue\":\(version),\"files\":[\n\(lines)\n]}\n"
  }
}
