public import BinaryImage

/// Everything that one image declares, and everything in it that cannot be registered.
public struct Scan: Sendable {
  /// The well-formed entries: `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`, each by index.
  public var records: [Record] = []
  /// The refused entries, in the same order.
  public var rejections: [Rejection] = []

  /// An empty scan.
  public init() {}
}

/// Reads the three sections of an image.
public enum RecordScanner {
  /// Everything that `image` declares.
  ///
  /// A refused entry never hides its neighbours. Throws where the sections themselves cannot be
  /// read: then nothing at all is known of the image.
  public static func scan(_ image: some Image) throws(ImageError) -> Scan {
    Scan()
  }
}
