/// A key of a file, whatever it is.
package struct FileKey: CodingKey, ExpressibleByStringLiteral {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(stringValue: String) { self.stringValue = stringValue }
  package init(stringLiteral value: String) { self.init(stringValue: value) }
  package init?(intValue: Int) { nil }
}

extension Decoder {
  /// The object at this key path; throws at a key that is none of `known`: what is written in vain is
  /// written wrongly.
  func object(_ known: [String], _ owner: String) throws -> KeyedDecodingContainer<FileKey> {
    let object = try container(keyedBy: FileKey.self)
    let unknown = object.allKeys.map(\.stringValue).filter { !known.contains($0) }
    guard let key = unknown.min() else { return object }
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: codingPath + [FileKey(stringValue: key)],
        debugDescription: "\(key.escaped) is no key \(owner)"
          + near(key, in: known) + "; the keys are \(known.joined(separator: ", "))"))
  }
}

extension DecodingError {
  /// Where in the file the wrong value is, as a person writes it: `moduleClasses[2].moduleLevel`.
  public var keyPath: String {
    var path = said?.path ?? []
    if case .keyNotFound(let key, _) = self { path.append(key) }
    return path.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : "." + key.stringValue
      }
    }
  }

  /// The place, what the decoder says, and the error that it wraps.
  package var said: (path: [any CodingKey], reason: String, cause: (any Error)?)? {
    switch self {
    case .keyNotFound(_, let context), .typeMismatch(_, let context),
      .valueNotFound(_, let context), .dataCorrupted(let context):
      (context.codingPath, context.debugDescription, context.underlyingError)
    @unknown default: nil
    }
  }
}
