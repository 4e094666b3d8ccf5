internal import FoundationEssentials

/// What a child tells its parent, as JSON.
///
/// What is read may come from a child that a hostile file has taken over: it is a value, or an error.
extension Encodable {
  /// The value as bytes; nil where no bytes can say it.
  var coded: [UInt8]? { (try? JSONEncoder().encode(self)).map { Array($0) } }
}

extension Decodable {
  /// Reads what ``Encodable/coded`` wrote.
  init(coded bytes: [UInt8]) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(bytes))
  }
}
