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

/// A value of another module that is coded field by field.
protocol Fielded: Codable {
  /// What is filled with what is read.
  static var blank: Self { get }
  static var fields: Fields<Self> { get }
}

/// The fields of a value, in their order: one description both writes and reads them.
struct Fields<Value> {
  fileprivate let encode: (Value, inout any UnkeyedEncodingContainer) throws -> Void
  fileprivate let decode: (inout Value, inout any UnkeyedDecodingContainer) throws -> Void

  init<each Field: Codable>(_ paths: repeat WritableKeyPath<Value, each Field>) {
    encode = { value, list in repeat try list.encode(value[keyPath: each paths]) }
    decode = { value, list in
      repeat value[keyPath: each paths] = try list.decode((each Field).self)
    }
  }
}

extension Fielded {
  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    try Self.fields.encode(self, &list)
  }

  init(from decoder: any Decoder) throws {
    self = .blank
    var list = try decoder.unkeyedContainer()
    try Self.fields.decode(&self, &list)
  }
}
