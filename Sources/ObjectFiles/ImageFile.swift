package import BinaryImage

/// Opens the image at any path, whatever its format.
///
/// Each format is a type of its own that says whether a file is one of its own.
package enum ImageFile {
  /// Opens the file at a path that need not be UTF-8; errors and the identity call it `name`, or else
  /// the path, with replacement characters.
  ///
  /// Throws `notAnObject` where no format knows the file, `unreadable` where it is no regular file.
  package static func open(
    pathBytes: [UInt8], name: String? = nil
  ) throws(ImageError) -> any FileImage {
    try open(OpenedFile(path: pathBytes, name: name ?? String(decoding: pathBytes, as: UTF8.self)))
  }

  private static var formats: [any FileImage.Type] { [ELFFile.self, MachOFile.self] }

  /// Files that may well hold entries, in formats that nothing here reads, by how they start.
  private static let unread: [(magic: [UInt8], what: String)] = [
    ([0x42, 0x43, 0xc0, 0xde], "LLVM's intermediate code; compile it without -flto"),
    ([0xde, 0xc0, 0x17, 0x0b], "LLVM's intermediate code; compile it without -flto"),
    ([0xbe, 0xba, 0xfe, 0xca], "a universal file with its header in the wrong byte order"),
    ([0xbf, 0xba, 0xfe, 0xca], "a universal file with its header in the wrong byte order"),
    (Array("dyld_v1 ".utf8), "a shared cache of dyld"),
    (Array("<bigaf>\n".utf8), "an archive of AIX"),
  ]

  /// Reads the headers of the image that an open file is.
  static func open(_ file: OpenedFile) throws(ImageError) -> any FileImage {
    for format in formats where format.recognises(file.head) { return try format.init(file) }
    for (magic, what) in unread where file.head.starts(with: magic) {
      throw file.error(.unsupported, "The file is not read: it is \(what).")
    }
    try file.check(
      !isContainer(file.head), .notAnObject, "The file holds other files; it is no image itself.")
    throw file.error(.notAnObject, "The file is no object file of a known format.")
  }
}
