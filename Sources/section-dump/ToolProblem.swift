internal import BinaryImage

/// What goes wrong in the tool alone; everything else has the code that it has everywhere.
extension ImageError.Code {
  /// There is more than `--max-bytes` allows.
  static let tooLarge = Self(rawValue: "too-large")
  /// With `--isolate`: the child that read the file was killed, or broke off.
  static let killed = Self(rawValue: "killed")
}

extension FileImage {
  /// An error that names the file, and a section of it.
  func error(_ code: ImageError.Code, _ message: String, section: Section? = nil) -> ImageError {
    ImageError(
      code, image: identity.path, section: section?.name, offset: section?.offset, message: message)
  }
}
