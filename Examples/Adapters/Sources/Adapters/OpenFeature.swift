/// The value of a flag. Values, contexts and evaluations have the shape that OpenFeature's specification gives them.
///
/// The names and texts are those of https://openfeature.dev/specification/types. OpenFeature's SDK has types of its
/// own; README.md shows how a host converts these types to the SDK's.
public enum FlagValue: Sendable, Hashable, Codable {
  /// No value.
  case null
  /// A truth value.
  case boolean(Bool)
  /// A text.
  case string(String)
  /// A whole number.
  case integer(Int64)
  /// A number.
  case number(Double)
  /// Values in order.
  case list([FlagValue])
  /// Values by name.
  case structure([String: FlagValue])

  /// Reads a value in the form of JSON.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let values = try? value.decode([FlagValue].self) {
      self = .list(values)
    } else {
      self = .structure(try value.decode([String: FlagValue].self))
    }
  }

  /// Writes the value in the form of JSON.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .list(let values): try container.encode(values)
    case .structure(let values): try container.encode(values)
    }
  }
}

/// The subject of an evaluation, and its attributes.
public struct FlagContext: Sendable {
  /// The subject, such as a user's id; nil and the empty text are no key.
  public var targetingKey: String?
  /// Further attributes of the subject, by name.
  public var attributes: [String: FlagValue]

  /// Describes a subject.
  ///
  /// - Parameters:
  ///   - targetingKey: The subject's key, if it has one.
  ///   - attributes: Its attributes by name.
  public init(targetingKey: String? = nil, attributes: [String: FlagValue] = [:]) {
    (self.targetingKey, self.attributes) = (targetingKey, attributes)
  }
}

/// The result of an evaluation: the value, and the reason for it.
public struct FlagEvaluation<Value: FlagType>: Sendable {
  /// The value of the flag, or the caller's own value if the flag has none.
  public var value: Value
  /// The name of the value; nil if the flag has none.
  public var variant: String?
  /// The reason for the value.
  public var reason: FlagReason
  /// The error; nil for none.
  public var errorCode: FlagErrorCode?
  /// The error in words; nil for none.
  public var errorMessage: String?
}

/// The reason for a value, as the specification writes it.
public enum FlagReason: String, Sendable {
  /// The flag has this value for everybody.
  case `static` = "STATIC"
  /// A rule about the context gave the value.
  case targetingMatch = "TARGETING_MATCH"
  /// A share of the users has this value.
  case split = "SPLIT"
  /// No rule about the context held.
  case `default` = "DEFAULT"
  /// The flag is switched off.
  case disabled = "DISABLED"
  /// Code gave the value, and did not say why.
  case unknown = "UNKNOWN"
  /// The flag could not be evaluated.
  case error = "ERROR"
}

/// The error of an evaluation, as the specification writes it.
public enum FlagErrorCode: String, Sendable {
  /// There is no such flag.
  case flagNotFound = "FLAG_NOT_FOUND"
  /// The flag is of another type than the caller asks for.
  case typeMismatch = "TYPE_MISMATCH"
  /// The flag is split by the targeting key, and the context has none.
  case targetingKeyMissing = "TARGETING_KEY_MISSING"
  /// The flag's value cannot be read.
  case parseError = "PARSE_ERROR"
  /// Another error.
  case general = "GENERAL"
}

/// The reason that a flag has no value of the type that the caller asks for.
public struct FlagFailure: Error, CustomStringConvertible {
  /// The error.
  public var code: FlagErrorCode
  /// The error in words.
  public var description: String

  /// Describes a failure.
  ///
  /// - Parameters:
  ///   - code: The error.
  ///   - description: The error in words.
  public init(_ code: FlagErrorCode, _ description: String) {
    (self.code, self.description) = (code, description)
  }
}

/// A type that flags have: `Bool`, `String`, `Int64`, `Double`, and `FlagValue` for structures.
public protocol FlagType: Sendable {
  /// Reads the value of a flag.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``FlagFailure`` if it is of another type.
  init(flag value: FlagValue) throws(FlagFailure)
}

extension Bool: FlagType {
  /// Reads a truth value.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``FlagFailure`` if it is of another type.
  public init(flag value: FlagValue) throws(FlagFailure) {
    guard case .boolean(let value) = value else { throw .mismatch(value, "a truth value") }
    self = value
  }
}

extension String: FlagType {
  /// Reads a text.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``FlagFailure`` if it is of another type.
  public init(flag value: FlagValue) throws(FlagFailure) {
    guard case .string(let value) = value else { throw .mismatch(value, "a text") }
    self = value
  }
}

extension Int64: FlagType {
  /// Reads a whole number.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``FlagFailure`` if it is of another type.
  public init(flag value: FlagValue) throws(FlagFailure) {
    guard case .integer(let value) = value else { throw .mismatch(value, "a whole number") }
    self = value
  }
}

extension Double: FlagType {
  /// Reads a number, which may be whole.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``FlagFailure`` if it is of another type.
  public init(flag value: FlagValue) throws(FlagFailure) {
    switch value {
    case .number(let value): self = value
    case .integer(let value): self = Double(value)
    default: throw .mismatch(value, "a number")
    }
  }
}

extension FlagFailure {
  fileprivate static func mismatch(_ value: FlagValue, _ wanted: String) -> FlagFailure {
    FlagFailure(.typeMismatch, "the flag is \(value), and \(wanted) was asked for")
  }
}
