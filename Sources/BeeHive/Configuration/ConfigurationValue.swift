/// A value of a configuration, as files and the environment can say it.
///
/// `Codable`, so that a host decodes a file with the decoder it likes:
/// `JSONDecoder().decode([String: ConfigurationValue].self, from: data)`.
public enum ConfigurationValue: Hashable, Sendable {
  /// Text; what the environment says is always text.
  case string(String)
  /// A whole number.
  case int(Int)
  /// A number.
  case double(Double)
  /// True or false.
  case bool(Bool)
  /// Several values in order.
  case array([ConfigurationValue])
  /// Values by name.
  case object([String: ConfigurationValue])
}

/// A type that configuration values can be read as.
public protocol ConfigurationConvertible: Sendable {
  /// The value as this type; nil where it has another form.
  init?(configuration value: ConfigurationValue)
}

extension String: ConfigurationConvertible {
  /// Text as it is.
  public init?(configuration value: ConfigurationValue) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
}

extension Int: ConfigurationConvertible {
  /// A whole number, or text that is one.
  public init?(configuration value: ConfigurationValue) {
    switch value {
    case .int(let number): self = number
    case .string(let text):
      guard let number = Int(text) else { return nil }
      self = number
    default: return nil
    }
  }
}

extension Double: ConfigurationConvertible {
  /// A number, or text that is one.
  public init?(configuration value: ConfigurationValue) {
    switch value {
    case .double(let number): self = number
    case .int(let number): self = Double(number)
    case .string(let text):
      guard let number = Double(text) else { return nil }
      self = number
    default: return nil
    }
  }
}

extension Bool: ConfigurationConvertible {
  /// True or false; as text true, yes, on, 1 and false, no, off, 0 in any case.
  public init?(configuration value: ConfigurationValue) {
    switch value {
    case .bool(let flag): self = flag
    case .string(let text):
      switch text.lowercased() {
      case "true", "yes", "on", "1": self = true
      case "false", "no", "off", "0": self = false
      default: return nil
      }
    default: return nil
    }
  }
}

extension Array: ConfigurationConvertible where Element: ConfigurationConvertible {
  /// Several values, or text with commas between them; nil where one of them has another form.
  public init?(configuration value: ConfigurationValue) {
    let parts: [ConfigurationValue]
    switch value {
    case .array(let values): parts = values
    case .string(let text): parts = text.split(separator: ",").map { .string(String($0)) }
    default: return nil
    }
    self = []
    for part in parts {
      guard let element = Element(configuration: part) else { return nil }
      append(element)
    }
  }
}

extension Dictionary: ConfigurationConvertible
where Key == String, Value: ConfigurationConvertible {
  /// Values by name; nil where one of them has another form.
  public init?(configuration value: ConfigurationValue) {
    guard case .object(let values) = value else { return nil }
    self = [:]
    for (name, part) in values {
      guard let value = Value(configuration: part) else { return nil }
      self[name] = value
    }
  }
}

extension ConfigurationValue: ConfigurationConvertible {
  /// The value as it was given, for settings of more than one form.
  public init?(configuration value: ConfigurationValue) { self = value }
}

extension ConfigurationValue: Codable {
  /// Reads the value in any of its forms; null, which is none, throws a `DecodingError` whose `keyPath`
  /// leads to it, also from inside an array.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      throw DecodingError.valueNotFound(
        ConfigurationValue.self,
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "null is no setting; leave the key out, or give it a value"))
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Int.self) {
      self = .int(number)
    } else if let number = try? value.decode(Double.self) {
      self = .double(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if var values = try? decoder.unkeyedContainer() {
      var array: [ConfigurationValue] = []
      while !values.isAtEnd { array.append(try values.decode(ConfigurationValue.self)) }
      self = .array(array)
    } else {
      let values = try decoder.container(keyedBy: FileKey.self)
      var object: [String: ConfigurationValue] = [:]
      for key in values.allKeys {
        object[key.stringValue] = try values.decode(ConfigurationValue.self, forKey: key)
      }
      self = .object(object)
    }
  }

  /// Writes the value as its plain form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let text): try container.encode(text)
    case .int(let number): try container.encode(number)
    case .double(let number): try container.encode(number)
    case .bool(let flag): try container.encode(flag)
    case .array(let values): try container.encode(values)
    case .object(let values): try container.encode(values)
    }
  }
}

// Settings in code read as they would in a file: `["server": ["port": 80, "hosts": ["a", "b"]]]`.
extension ConfigurationValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .int(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Several values.
  public init(arrayLiteral elements: ConfigurationValue...) { self = .array(elements) }
  /// Values by name; of two under one name, the later.
  public init(dictionaryLiteral elements: (String, ConfigurationValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}
