package import BinaryImage
package import Registration

/// What a plugin's file says of itself before it is loaded.
package struct PluginManifest: Hashable, Sendable {
  /// The file's path, as it was found.
  package var path: String { identity.path }
  /// What tells the file and its contents from others.
  package var stamp: FileStamp
  /// Machine, word size, byte order, kind and build-id.
  package var identity: ImageIdentity
  /// Its soname, the libraries that it needs, and what its notes say.
  package var linkage: ELFLinkage
  /// The well-formed entries, in their order.
  package var records: [Record]
  /// The entries that every Hive rejects, in the same order.
  package var rejections: [Rejection]

  /// The identity of the plugin; nil if its file states none.
  package var plugin: PluginIdentity? { PluginIdentity(of: records) }

  /// Files of at most this size are read by one call, larger ones part by part.
  package static let readWhole = 1 << 15

  /// Reads what a file says of itself; no code of it runs.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: ``ImageError`` that says why the file cannot be read, or is no plugin.
  package init(path: String) throws(ImageError) {
    try self.init(of: OpenedFile(path: path, readWhole: Self.readWhole))
  }

  /// Reads what an open file says of itself.
  ///
  /// - Parameter file: The file, which is read by this thread alone.
  /// - Throws: ``ImageError`` that says why the file cannot be read, or is no plugin.
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
    // What is not found in a file that was cut off may have been there.
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
  /// What a file is that was read and is no plugin.
  fileprivate func isNoPlugin(_ message: String) -> ImageError { error(.noEntries, message) }
}
