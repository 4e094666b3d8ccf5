package import BinaryImage
package import Registration

/// What a plugin's file says of itself before it is loaded.
///
/// Where the pointers of its entries lead is left out: accessor, context and the address of a text mean nothing
/// without the bytes of the file.
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
}

extension PluginManifest {
  /// What one of the modules requires of others.
  package struct Requirement: Hashable, Sendable {
    /// The module that is required.
    package var module: ModuleRequirement
    /// The name of the entry that requires it.
    package var requirer: String
    /// Whether it is only to come first where it is there: `after=`.
    package var isOptional: Bool
  }

  /// What its modules require, in their order; what the file itself offers included.
  package var requirements: [Requirement] {
    records.flatMap { record in
      let attributes = record.attributes
      let all = attributes.requires.map { ($0, false) } + attributes.after.map { ($0, true) }
      return all.map { text, isOptional in
        Requirement(
          module: ModuleRequirement(text), requirer: record.name, isOptional: isOptional)
      }
    }
  }
}

extension PluginManifest {
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
    guard ELFFile.recognises(file.head) else { throw file.isNoELF }
    let image = try ELFFile(file)
    if image.isCore { throw file.isNoPlugin("It is a core file.") }
    if image.isObject {
      throw file.isNoPlugin("It is an object file; link it into a shared library.")
    }
    let scan = try RecordScanner.scan(image, keepsPointers: false)
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
    self.init(
      stamp: file.stamp, identity: identity, linkage: try image.linkage(), records: scan.records,
      rejections: scan.rejections)
  }
}

extension OpenedFile {
  /// What a file is that was read and is no plugin.
  fileprivate func isNoPlugin(_ message: String) -> ImageError { error(.noEntries, message) }

  /// What a file is that does not begin as ELF files do.
  fileprivate var isNoELF: ImageError {
    func begins(_ bytes: [UInt8]...) -> Bool { bytes.contains { head.starts(with: $0) } }
    if head.isEmpty { return error(.notAnObject, "It is empty.") }
    if begins([0x23, 0x21]) { return error(.notAnObject, "It is a script.") }
    if begins(Array("!<arch>\n".utf8), Array("!<thin>\n".utf8)) {
      return error(.notAnObject, "It is an archive; link it into a shared library.")
    }
    // MH_MAGIC, MH_MAGIC_64 in both orders, and universal files.
    if begins(
      [0xce, 0xfa, 0xed, 0xfe], [0xcf, 0xfa, 0xed, 0xfe], [0xfe, 0xed, 0xfa, 0xce],
      [0xfe, 0xed, 0xfa, 0xcf], [0xca, 0xfe, 0xba, 0xbe])
    {
      return error(.notAnObject, "It is a Mach-O file; this loader opens ELF files.")
    }
    if head.count < 4, [0x7f, 0x45, 0x4c, 0x46].starts(with: head) {
      return error(.truncated, "The file ends inside the ELF header.")
    }
    return error(.notAnObject, "It is no object file.")
  }
}
