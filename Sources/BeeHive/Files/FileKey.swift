internal import BinaryImage
internal import Registration

/// A key of a file, whatever it is.
package struct FileKey: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(stringValue: String) { self.stringValue = stringValue }
  package init?(intValue: Int) { nil }
}

extension Decoder {
  /// The object at this key path; throws at a key that is none of `Key`: what is written in vain is
  /// written wrongly.
  func object<Key: CodingKey & CaseIterable>(
    _ keys: Key.Type, _ owner: String
  ) throws -> KeyedDecodingContainer<Key> {
    let known = Set(Key.allCases.map(\.stringValue))
    let unknown = try container(keyedBy: FileKey.self).allKeys.map(\.stringValue)
      .filter { !known.contains($0) }
    guard let key = unknown.min() else { return try container(keyedBy: Key.self) }
    let names = Key.allCases.map(\.stringValue).joined(separator: ", ")
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: codingPath + [FileKey(stringValue: key)],
        debugDescription: "\(key.escaped) is no key \(owner)"
          + near(key, in: known) + "; the keys are \(names)"))
  }
}

extension DecodingError {
  /// Where in the file the wrong value is, as a person writes it: `moduleClasses[2].moduleLevel`.
  public var keyPath: String {
    let path: [any CodingKey]
    switch self {
    case .keyNotFound(let key, let context): path = context.codingPath + [key]
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      path = context.codingPath
    @unknown default: path = []
    }
    return path.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : "." + key.stringValue
      }
    }
  }
}
