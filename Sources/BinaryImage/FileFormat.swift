/// A format of files that hold one image.
package protocol FileFormat: FileImage {
  /// Whether a file that starts with these bytes is of this format.
  static func recognises(_ head: [UInt8]) -> Bool

  /// Reads the headers of an open file.
  init(_ file: OpenedFile) throws(ImageError)
}
