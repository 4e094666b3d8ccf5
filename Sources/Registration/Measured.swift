public import BinaryImage

/// What the benchmarks measure of the layers below the Hive. Not part of the library's interface.
@_spi(Benchmarks) public enum Measured {
  /// Lists the images of this process; returns how many there are.
  public static func walk() throws(ImageError) -> Int {
    var list = ImageList()
    _ = try list.update()
    return list.count
  }

  /// Lists the images and copies the sections of each; returns how many there are.
  public static func copies() throws(ImageError) -> Int {
    var list = ImageList()
    _ = try list.update()
    return list.copy(Array(0..<list.count)).count
  }

  /// Asks the loader whether anything came or went; false where it cannot say.
  public static func probe() -> Bool { ImageList.probe() != nil }

  /// Reads the image with a note that was loaded last; returns how many entries it declares.
  public static func outlineOfNewest() throws(ImageError) -> Int {
    var list = ImageList()
    _ = try list.update()
    let newest = (0..<list.count).last { list[$0].note == .valid }
    guard let newest, case .image(let image)? = list.copy([newest]).first else { return 0 }
    return try RecordScanner.outline(image).count
  }
}
