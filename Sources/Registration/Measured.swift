public import BinaryImage

/// Measurements of the layers below the Hive, for the benchmarks. Not part of the library's interface.
@_spi(Benchmarks) public enum Measured {
  /// Lists the images of this process.
  ///
  /// - Returns: The number of images.
  /// - Throws: ``ImageError`` if the images cannot be listed.
  public static func walk() throws(ImageError) -> Int {
    try images().count
  }

  /// Lists the images and copies the sections of each.
  ///
  /// - Returns: The number of images.
  /// - Throws: ``ImageError`` if the images cannot be listed.
  public static func copies() throws(ImageError) -> Int {
    let list = try images()
    return list.copy(Array(0..<list.count)).count
  }

  /// Finds this project's sections in a file, as is done before it is loaded.
  ///
  /// - Parameter path: The path of an ELF file.
  /// - Returns: The number of sections.
  /// - Throws: ``ImageError`` if the file cannot be read.
  public static func sections(ofFileAt path: String) throws(ImageError) -> Int {
    let file = try OpenedFile(path: path)
    return try ELFFile(file).countOfEntrySections()
  }

  /// Asks the loader whether images were added or removed. Returns false if the loader cannot say.
  public static func probe() -> Bool { ImageList.probe() != nil }

  /// Reads the image with a note that was loaded last.
  ///
  /// - Returns: The number of entries that it declares.
  /// - Throws: ``ImageError`` if the images cannot be listed or that one cannot be read.
  public static func recordsOfNewest() throws(ImageError) -> Int {
    let list = try images()
    let newest = (0..<list.count).last { list[$0].note == .valid }
    guard let newest, case .image(let image)? = list.copy([newest]).first else { return 0 }
    return try Scan(of: image).records.count
  }

  private static func images() throws(ImageError) -> ImageList {
    var list = ImageList()
    _ = try list.update()
    return list
  }
}
