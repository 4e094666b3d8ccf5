/// The `key=value` fields of a record, parsed once.
public struct Attributes: Hashable, Codable, Sendable {
  /// One key and its value.
  public struct Attribute: Hashable, Codable, Sendable {
    /// The text before the first `=`.
    public var key: String
    /// The text after it.
    public var value: String

    /// Pairs a key with a value.
    ///
    /// - Parameters:
    ///   - key: The text before the first `=`.
    ///   - value: The text after it.
    public init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// Larger first among those that nothing else orders; 0 unless given.
  public var priority = 0

  /// `level=`: `basic` modules start before the others.
  public var level: String?

  /// `requires=`, in order of appearance: modules that must be present and start earlier.
  public var requires: [String] = []

  /// `after=`, in order of appearance: modules that start earlier where they are present.
  public var after: [String] = []

  /// `scope=`: how long an instance of a service lives.
  public var scope: String?

  /// `name=`: tells several implementations of one service apart.
  public var name: String?

  /// `abi=`: what the context pointer leads to; nil for a Swift accessor.
  public var abi: String?

  /// Every other key, in order of appearance; a key may repeat.
  public var others: [Attribute] = []

  /// Creates an empty value, without attributes.
  public init() {}
}
