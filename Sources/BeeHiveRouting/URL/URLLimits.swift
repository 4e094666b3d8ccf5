/// How much of a URL is read before it is refused.
public struct URLLimits: Hashable, Sendable {
  /// The longest URL, in bytes of UTF-8.
  public var bytes: Int
  /// The most segments of a path, its host included.
  public var segments: Int
  /// The most parameters of a query.
  public var items: Int

  /// Describes limits.
  ///
  /// - Parameters:
  ///   - bytes: The longest URL, in bytes of UTF-8.
  ///   - segments: The most segments of a path, its host included.
  ///   - items: The most parameters of a query.
  public init(bytes: Int = 8192, segments: Int = 64, items: Int = 256) {
    self.bytes = bytes
    self.segments = segments
    self.items = items
  }

  /// 8192 bytes, 64 segments, 256 parameters.
  public static let standard = URLLimits()
}
