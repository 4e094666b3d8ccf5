package import BinaryImage
package import Registration

/// The statements of a plugin's file about itself, read before it is loaded.
package struct PluginManifest: Hashable, Sendable {
  /// The file's path, as it was found.
  package var path: String { identity.path }
  /// The stamp of the file and its contents.
  package var stamp: FileStamp
  /// Machine, word size, byte order, kind and build-id.
  package var identity: ImageIdentity
  /// Its soname, the libraries that it needs, and the contents of its notes.
  package var linkage: ELFLinkage
  /// The well-formed entries, in their order.
  package var records: [Record]
  /// The entries that every Hive rejects, in the same order.
  package var rejections: [Rejection]

  /// The identity of the plugin; nil if its file states none.
  package var plugin: PluginIdentity? { PluginIdentity(of: records) }

  /// Files of at most this size are read by one call, larger ones part by part.
  package static let readWhole = 1 << 15

  /// Reads the statements of a file; runs none of its code.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: ``ImageError`` with the reason that the file cannot be read, or is no plugin.
  package init(path: String) throws(ImageError) {
    try self.init(of: OpenedFile(path: path, readWhole: Self.readWhole))
  }

  /// Reads the statements of an open file.
  ///
  /// - Parameter file: The file, which only this thread reads.
  /// - Throws: ``ImageError`` with the reason that the file cannot be read, or is no plugin.
  package init(of file: OpenedFile) throws(ImageError) {
    guard ELFFile.recognises(file.head) else {
      throw file.error(.notAnObject, file.head.isEmpty ? "It is empty." : "It is no object file.")
    }
    let image = try ELFFile(file)
    if image.isCore { throw file.isNoPlugin("It is a core file.") }
    if image.isObject {
      throw file.isNoPlugin("It is an object file; link it into a shared library.")
    }
    let scan = try Scan(of: image)
    // Entries that are not found in a file that was cut off may have been there.
    try image.checkExtents()
    let identity = image.identity
    switch identity.kind {
    case .shared: break
    case .executable: throw file.isNoPlugin("It is a program, which no host can open.")
    case .debug: throw file.isNoPlugin("It is split debug information.")
    case .core, .bundle, .object: throw file.isNoPlugin("It is no shared library.")
    }
    guard !scan.records.isEmpty || !scan.rejections.isEmpty else {
      throw file.isNoPlugin("It is a shared library, and declares nothing.")
    }
    stamp = file.stamp
    self.identity = identity
    linkage = try image.linkage()
    (records, rejections) = (scan.records, scan.rejections)
  }
}

extension OpenedFile {
  /// Returns the error for a file that was read and is no plugin.
  fileprivate func isNoPlugin(_ message: String) -> ImageError { error(.noEntries, message) }
}
