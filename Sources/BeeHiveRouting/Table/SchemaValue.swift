/// A piece of a document, whatever the decoder: what JSON, property lists and YAML have in common.
indirect enum SchemaValue: Equatable {
  case value(DecisionValue)
  case array([SchemaValue])
  case object([String: SchemaValue])

  /// What it is, for people.
  var kind: String {
    switch self {
    case .value(.null): "null"
    case .value(.bool): "true or false"
    case .value(.integer), .value(.number): "a number"
    case .value(.text): "a text"
    case .value(.array), .array: "an array"
    case .object: "an object"
    }
  }

  /// The value, where it holds no object.
  var plain: DecisionValue? {
    switch self {
    case .value(let value): return value
    case .array(let values):
      let plain = values.compactMap(\.plain)
      return plain.count == values.count ? .array(plain) : nil
    case .object: return nil
    }
  }
}

extension SchemaValue: Codable {
  init(from decoder: any Decoder) throws {
    if (try? decoder.container(keyedBy: FileKey.self)) != nil {
      self = .object(try [String: SchemaValue](from: decoder))
    } else if (try? decoder.unkeyedContainer()) != nil {
      self = .array(try [SchemaValue](from: decoder))
    } else {
      self = .value(try DecisionValue(scalar: decoder.singleValueContainer()))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .value(let value): try value.encode(to: encoder)
    case .array(let values): try values.encode(to: encoder)
    case .object(let pairs):
      var object = encoder.container(keyedBy: FileKey.self)
      for (key, value) in pairs.sorted(by: { $0.key < $1.key }) {
        try object.encode(value, forKey: FileKey(stringValue: key))
      }
    }
  }
}

extension DecisionValue: Codable {
  /// Reads null, a truth value, a number, a text, or an array of these.
  package init(from decoder: any Decoder) throws {
    guard let value = try SchemaValue(from: decoder).plain else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "an object is no value here"))
    }
    self = value
  }

  /// Writes the value.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    }
  }

  fileprivate init(scalar: any SingleValueDecodingContainer) throws {
    if scalar.decodeNil() {
      self = .null
    } else if let text = try? scalar.decode(String.self) {
      self = Self.literal(text, scalar) ?? .text(text)
    } else if let bool = try? scalar.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? scalar.decode(Int.self) {
      self = .integer(integer)
    } else {
      self = .number(try scalar.decode(Double.self))
    }
  }

  /// What a text means to a decoder that gives every scalar as a text, as YAML's do.
  ///
  /// Only what JSON would write as a number or a truth value is one: `01234`, `0x1f`, `no` and `12:30` are the
  /// texts that their authors see, not what YAML 1.1 makes of them.
  private static func literal(
    _ text: String, _ scalar: any SingleValueDecodingContainer
  ) -> DecisionValue? {
    if text == "true" || text == "false" {
      return (try? scalar.decode(Bool.self)).map(DecisionValue.bool)
    }
    guard text.isJSONNumber, (try? scalar.decode(Double.self)) != nil else { return nil }
    if let integer = Int(text) { return .integer(integer) }
    // A number that Swift cannot hold with all its digits is not rounded.
    let isWhole = text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
    return Double(text).flatMap { $0.isFinite && !isWhole ? .number($0) : nil }
  }
}

extension String {
  /// Whether JSON would take it for a number.
  fileprivate var isJSONNumber: Bool {
    // Swift reads more: words, hexadecimal digits, a plus or zeros in front, a point beside no digit.
    let unsigned = utf8.dropFirst(utf8.first == UInt8(ascii: "-") ? 1 : 0)
    let whole = unsigned.prefix { $0.isDigit }
    let behind = unsigned.dropFirst(whole.count)
    return (whole.count == 1 || whole.count > 1 && whole.first != UInt8(ascii: "0"))
      && (behind.first != UInt8(ascii: ".") || behind.dropFirst().first?.isDigit == true)
      && utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) } && Double(self) != nil
  }
}
