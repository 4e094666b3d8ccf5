/// Any key of a file.
package struct FileKey: CodingKey, ExpressibleByStringLiteral {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(stringValue: String) { self.stringValue = stringValue }
  package init(stringLiteral value: String) { self.init(stringValue: value) }
  package init?(intValue: Int) { nil }
}

extension Decoder {
  /// Returns the object here. Throws if it has a key that is not `known`: an unknown key is an error.
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
  /// The location of the wrong value in the file, as a person writes it: `moduleClasses[2].moduleLevel`.
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

  /// The location, the decoder's message, and the error that it wraps.
  package var said: (path: [any CodingKey], reason: String, cause: (any Error)?)? {
    switch self {
    case .keyNotFound(_, let context), .typeMismatch(_, let context),
      .valueNotFound(_, let context), .dataCorrupted(let context):
      (context.codingPath, context.debugDescription, context.underlyingError)
    @unknown default: nil
    }
  }
}
