internal import LibC
internal import Threads

/// The settings of an application, in layers: values set at run time come first, then the environment, then files, then
/// defaults.
///
///     let port = Configuration.Key<Int>("server.port")
///     let settings = Configuration(
///       defaults: ["server": ["port": 80]], environmentPrefix: "SHOP")
///     settings.set(8080, for: "server.port")
///     let number = try settings.value(port)  // 8080
///
/// Shared by reference, so that every module sees a setting that changes. May be used from any thread.
public final class Configuration: Sendable {
  /// A setting with its type, declared once: `static let port = Configuration.Key<Int>("port")`.
  public struct Key<Value: ConfigurationConvertible>: Sendable {
    /// The name; in files, dots lead into objects: `server.port`.
    public let name: String
    /// The value if no layer has the setting; nil makes a missing setting an error.
    package let defaultValue: Value?

    /// Names a setting.
    ///
    /// - Parameters:
    ///   - name: The name; dots lead into objects: `server.port`.
    ///   - defaultValue: Used if no layer has the setting; nil makes a missing setting an error.
    public init(_ name: String, default defaultValue: Value? = nil) {
      self.name = name
      self.defaultValue = defaultValue
    }
  }

  /// The layer that a setting came from.
  public enum Layer: String, Hashable, Sendable, CaseIterable {
    /// `set` was called.
    case runtime
    /// An environment variable.
    case environment
    /// A file that the host decoded, or another source it added; the one that was added last comes first.
    case file
    /// The defaults that the application gave.
    case defaults
  }

  private typealias Source = (name: String, lookup: @Sendable (String) -> ConfigurationValue?)

  private let runtime = Lock<[String: ConfigurationValue]>([:])
  private let sources = Lock<[Source]>([])
  private let defaults: [String: ConfigurationValue]
  private let prefix: String?

  /// Creates a configuration with defaults and, if a prefix is given, the environment.
  ///
  /// - Parameters:
  ///   - defaults: The last layer: used if no other layer has the setting.
  ///   - prefix: Makes the environment a layer: with `APP`, `server.port` is the variable
  ///     `APP_SERVER_PORT`. Nil leaves the environment out.
  public init(
    defaults: [String: ConfigurationValue] = [:], environmentPrefix prefix: String? = nil
  ) {
    self.defaults = defaults
    self.prefix = prefix
  }

  /// Adds the settings of a file, before those of the files that were added earlier.
  ///
  /// - Parameters:
  ///   - name: The name of the file in errors, often its path. The file is not opened.
  ///   - values: The decoded contents.
  public func add(file name: String, _ values: [String: ConfigurationValue]) {
    add(source: name) { values.value(at: $0) }
  }

  /// Adds a source that each reading of a setting asks, such as another configuration library. It ranks as a file.
  ///
  /// - Parameters:
  ///   - name: The name of the source in errors.
  ///   - lookup: Returns the value of a setting's name, nil if the source has none. Runs on the thread that
  ///     reads the setting, with no lock held.
  public func add(
    source name: String, _ lookup: @escaping @Sendable (String) -> ConfigurationValue?
  ) {
    sources.withLock { $0.insert((name, lookup), at: 0) }
  }

  /// Sets a value at run time, before every other layer.
  ///
  /// - Parameters:
  ///   - value: The value; nil removes the one that was set here, so the other layers count again.
  ///   - name: The setting's name, as its key has it.
  public func set(_ value: ConfigurationValue?, for name: String) {
    runtime.withLock { $0[name] = value }
  }

  /// Returns a setting that must be there.
  ///
  /// - Parameter key: The setting, with its type and default.
  /// - Returns: The value of the first layer that has it, else the key's default.
  /// - Throws: ``Problem`` of the code `missing-setting` if no layer has the setting and the key has no default. The
  ///   code is `wrong-type` if the value cannot be read as the key's type.
  public func value<Value>(_ key: Key<Value>) throws(Problem) -> Value {
    guard let found = find(key.name) else {
      if let value = key.defaultValue { return value }
      throw Problem(
        .missingSetting,
        "configuration \(key.name): no layer sets it; set it in a file"
          + (variable(key.name).map { ", or the environment variable \($0)" } ?? "")
          + ", or give the key a default")
    }
    if let value = Value(configuration: found.value) { return value }
    throw Problem(
      .wrongType,
      "configuration \(key.name): \(found.place) says \(found.value), which is no \(Value.self)")
  }

  /// Returns the layer that a setting comes from.
  ///
  /// - Parameter name: The setting's name, as its key has it.
  /// - Returns: The first layer that has it; nil if none has. A key's own default is no layer.
  public func layer(of name: String) -> Layer? { find(name)?.layer }

  private typealias Found = (value: ConfigurationValue, layer: Layer, place: String)

  private func find(_ name: String) -> Found? {
    if let value = runtime.withLock({ $0[name] }) {
      return (value, .runtime, "the value set at run time")
    }
    if let variable = variable(name), let text = unsafe getenv(variable) {
      let value = unsafe ConfigurationValue.string(String(cString: text))
      return (value, .environment, "the environment variable \(variable)")
    }
    for source in sources.withLock({ $0 }) {
      if let value = source.lookup(name) { return (value, .file, source.name) }
    }
    return defaults.value(at: name).map { ($0, .defaults, "the default") }
  }

  /// Returns the name of the environment variable of a setting.
  private func variable(_ name: String) -> String? {
    prefix.map { prefix in
      let words = name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
      return "\(prefix)_\(String(words))"
    }
  }
}

extension [String: ConfigurationValue] {
  /// Returns the value of a name, as a whole or through the objects that its dots lead into.
  fileprivate func value(at name: String) -> ConfigurationValue? {
    if let value = self[name] { return value }
    guard let dot = name.firstIndex(of: "."),
      case .object(let inner)? = self[String(name[..<dot])]
    else { return nil }
    return inner.value(at: String(name[name.index(after: dot)...]))
  }
}

extension ConfigurationValue: CustomStringConvertible {
  /// The value as a person would write it.
  public var description: String {
    switch self {
    case .string(let text): "\"\(text)\""
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    case .array(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .object(let values):
      "{\(values.keys.sorted().joined(separator: ", "))}"
    }
  }
}

/// A value of a configuration, as files and the environment have it.
///
/// `Codable`, so that a host decodes a file with the decoder it likes:
/// `JSONDecoder().decode([String: ConfigurationValue].self, from: data)`.
public enum ConfigurationValue: Hashable, Sendable {
  /// Text; the environment has only text.
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
  /// - Parameter value: The value, as its layer has it. The environment has only text.
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
  /// Reads the value in any of its forms. Null throws a `DecodingError` whose `keyPath` leads to it, also from inside
  /// an array.
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
      // A decoded `Dictionary` counts keys that look like numbers as numbers.
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
