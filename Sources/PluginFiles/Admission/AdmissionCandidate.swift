package import BinaryImage

/// A plugin's file, open, and what it says of itself: every check reads this descriptor.
package struct AdmissionCandidate {
  /// Where it was found.
  package let path: String
  /// What it offers and requires.
  package let manifest: PluginManifest
  let library: Library

  /// Opens the file at a path and reads it.
  ///
  /// - Throws: ``ImageError`` where it is no plugin, or cannot be read.
  package init(path: String) throws(ImageError) {
    // Looked at after it was opened, which blocks on nothing: what is said of it is said of this descriptor.
    let file = try OpenedFile(path: path, name: path, wasMapped: true)
    self.path = path
    manifest = try PluginManifest(of: file)
    library = try Library(of: file)
  }

  /// The file's name, without its folders.
  var name: String { path.fileName }
}

extension String {
  /// A path without its folders.
  package var fileName: String { split(separator: "/").last.map(String.init) ?? self }

  /// The folder that a path is in.
  package var folder: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }
}
