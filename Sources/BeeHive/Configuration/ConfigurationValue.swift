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
  /// Reads a value as this type; nil if it has another form.
  ///
  /// - Parameter value: The value, as its layer has it. The environment has text only.
  init?(configuration value: ConfigurationValue)
}

extension String: ConfigurationConvertible {
  /// Reads text; nil for any other form.
  ///
  /// - Parameter value: A string; numbers and flags are not converted.
  public init?(configuration value: ConfigurationValue) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
}

extension Int: ConfigurationConvertible {
  /// Reads a whole number; nil for any other form.
  ///
  /// - Parameter value: A whole number, or decimal text of one.
  public init?(configuration value: ConfigurationValue) {
    switch value {
    case .int(let number): self = number
    case .string(let text): self.init(text)
    default: return nil
    }
  }
}

extension Double: ConfigurationConvertible {
  /// Reads a number; nil for any other form.
  ///
  /// - Parameter value: A number, whole or not, or text of one.
  public init?(configuration value: ConfigurationValue) {
    switch value {
    case .double(let number): self = number
    case .int(let number): self = Double(number)
    case .string(let text): self.init(text)
    default: return nil
    }
  }
}

extension Bool: ConfigurationConvertible {
  /// Reads true or false; nil for any other form.
  ///
  /// - Parameter value: A flag, or text in any case: true, yes, on, 1, or false, no, off, 0.
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
  /// Reads several values; nil if one of them has another form than `Element`.
  ///
  /// - Parameter value: An array, or text with commas between the elements. Blanks around an element are
  ///   not part of it, and empty ones are left out.
  public init?(configuration value: ConfigurationValue) {
    let parts: [ConfigurationValue]
    switch value {
    case .array(let values): parts = values
    case .string(let text):
      parts = text.split(separator: ",").compactMap { part in
        let start = part.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return .string(String(start[...last]))
      }
    default: return nil
    }
    let elements = parts.compactMap { Element(configuration: $0) }
    guard elements.count == parts.count else { return nil }
    self = elements
  }
}

extension Dictionary: ConfigurationConvertible
where Key == String, Value: ConfigurationConvertible {
  /// Reads values by name; nil if one of them has another form than `Value`.
  ///
  /// - Parameter value: An object; text is not parsed.
  public init?(configuration value: ConfigurationValue) {
    guard case .object(let values) = value else { return nil }
    let converted = values.compactMapValues { Value(configuration: $0) }
    guard converted.count == values.count else { return nil }
    self = converted
  }
}

extension ConfigurationValue: ConfigurationConvertible {
  /// Takes the value as it is, for settings of more than one form.
  ///
  /// - Parameter value: A value of any form.
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
        .init(
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
    } else if (try? decoder.unkeyedContainer()) != nil {
      self = .array(try [ConfigurationValue](from: decoder))
    } else {
      // The keys of a `Dictionary` that is decoded count as numbers where they look like one.
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
  /// Wraps text.
  ///
  /// - Parameter value: The text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Wraps a whole number.
  ///
  /// - Parameter value: The number.
  public init(integerLiteral value: Int) { self = .int(value) }
  /// Wraps a number.
  ///
  /// - Parameter value: The number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Wraps true or false.
  ///
  /// - Parameter value: The flag.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Wraps several values.
  ///
  /// - Parameter elements: The values, in order.
  public init(arrayLiteral elements: ConfigurationValue...) { self = .array(elements) }
  /// Wraps values by name.
  ///
  /// - Parameter elements: Names and values; of two with one name, the later counts.
  public init(dictionaryLiteral elements: (String, ConfigurationValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}
