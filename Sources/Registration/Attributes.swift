/// The `key=value` fields of a record, parsed once.
package struct Attributes: Hashable, Codable, Sendable {
  /// One key and its value.
  package struct Attribute: Hashable, Codable, Sendable {
    /// The text before the first `=`.
    package var key: String
    /// The text after it.
    package var value: String

    /// Pairs a key with a value.
    ///
    /// - Parameters:
    ///   - key: The text before the first `=`.
    ///   - value: The text after it.
    package init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// Larger first among those that nothing else orders; 0 unless given.
  package var priority = 0

  /// `level=`: `basic` modules start before the others.
  package var level: String?

  /// `requires=`, in order of appearance: modules that must be present and start earlier.
  package var requires: [String] = []

  /// `after=`, in order of appearance: modules that start earlier where they are present.
  package var after: [String] = []

  /// `scope=`: how long an instance of a service lives.
  package var scope: String?

  /// `name=`: tells several implementations of one service apart.
  package var name: String?

  /// `abi=`: what the context pointer leads to; nil for a Swift accessor.
  package var abi: String?

  /// Every other key, in order of appearance; a key may repeat.
  package var others: [Attribute] = []

  /// Creates an empty value, without attributes.
  package init() {}
}
