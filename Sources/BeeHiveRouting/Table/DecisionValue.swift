internal import Registration

/// A piece of a decision table's document, as JSON, property lists and YAML have it in common.
///
/// A whole number is an integer however it is written: `7` and `7.0` are equal.
enum DecisionValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// An integer of 64 bits, signed or unsigned.
  case integer(Int128)
  case number(Double)
  case text(String)
  case array([DecisionValue])
  /// An object. The values of a rule contain none.
  case object([String: DecisionValue])

  /// The name of its form, for people.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer: "a number"
    case .number: "a number with a fraction"
    case .text: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }

  var hasObject: Bool {
    switch self {
    case .array(let values): values.contains(where: \.hasObject)
    case .object: true
    default: false
    }
  }

  /// The texts that a URL would give instead; none for null.
  var texts: [String] {
    if case .array(let values) = self { return values.flatMap(\.texts) }
    return (answer as? any URLConvertible)?.urlTexts ?? []
  }

  /// The number with all its digits.
  var decimal: DecimalNumber? { double == nil ? nil : texts.first.flatMap { DecimalNumber($0) } }

  /// The number; nil for other values.
  var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The number as a Double, if that has all its digits.
  private var exactDouble: Double? {
    if case .integer(let value) = self { Double(exactly: value) } else { double }
  }

  /// The value as a Swift value, as the caller gets it in an answer.
  var answer: any Sendable {
    switch self {
    case .null, .object: return ()
    case .bool(let value): return value
    case .integer(let value): return Int(exactly: value) ?? UInt64(truncatingIfNeeded: value)
    case .number(let value): return value
    case .text(let value): return value
    case .array(let values):
      // All elements of an array have one type, if they can.
      let answers = values.map(\.answer)
      if let texts = answers as? [String] { return texts }
      if let numbers = answers as? [Int] { return numbers }
      let doubles = values.compactMap(\.exactDouble)
      return doubles.count == values.count ? doubles : answers
    }
  }

  /// Returns a number, as an integer if it is whole.
  static func number(of value: Double) -> DecisionValue {
    Int(exactly: value).map { .integer(Int128($0)) } ?? .number(value)
  }
}

extension DecisionValue: Codable {
  /// The values, the bytes of texts and keys, and the levels that a document may still have.
  typealias Budget = (values: Int, bytes: Int, levels: Int)

  /// The limits of a document: 100,000 rules are a million values. Decoders look keys up one after the other, so an
  /// object has at most 1,024.
  static let budget: Budget = (values: 2 << 20, bytes: 64 << 20, levels: 128)
  private static let mostKeys = 1_024

  init(from decoder: any Decoder) throws {
    var budget = Self.budget
    try self.init(from: decoder, within: &budget)
  }

  /// Reads a value and all that is in it. What a YAML alias stands for counts each time.
  init(from decoder: any Decoder, within budget: inout Budget) throws {
    func check(_ isRight: Bool, _ most: Int, _ what: String) throws {
      if isRight { return }
      let message = "the document has more than \(most) \(what)"
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: message))
    }
    func pay(for text: String) throws {
      try check(!hasManyMarks(text), 30, "combining marks in a row")
      budget.bytes -= text.utf8.count
      try check(budget.bytes >= 0, Self.budget.bytes, "bytes of text")
    }
    budget.values -= 1
    budget.levels -= 1
    try check(budget.values >= 0, Self.budget.values, "values")
    try check(budget.levels >= 0, Self.budget.levels, "levels")
    if let object = try? decoder.container(keyedBy: FileKey.self) {
      let keys = object.allKeys
      try check(keys.count <= Self.mostKeys, Self.mostKeys, "keys in an object")
      var pairs: [String: DecisionValue] = [:]
      for key in keys {
        try pay(for: key.stringValue)
        pairs[key.stringValue] = try Self(from: object.superDecoder(forKey: key), within: &budget)
      }
      self = .object(pairs)
    } else if var array = try? decoder.unkeyedContainer() {
      var values: [DecisionValue] = []
      while !array.isAtEnd { values.append(try Self(from: array.superDecoder(), within: &budget)) }
      self = .array(values)
    } else {
      try self.init(scalar: decoder.singleValueContainer())
      if case .text(let text) = self { try pay(for: text) }
    }
    budget.levels += 1
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .array(let values): try values.encode(to: encoder)
    case .object(let pairs):
      var object = encoder.container(keyedBy: FileKey.self)
      for (key, value) in pairs.sorted(by: { $0.key < $1.key }) {
        try object.encode(value, forKey: FileKey(stringValue: key))
      }
    default: try (answer as? any Encodable)?.encode(to: encoder)
    }
  }

  private init(scalar: any SingleValueDecodingContainer) throws {
    if scalar.decodeNil() {
      self = .null
    } else if let text = try? scalar.decode(String.self) {
      self = Self.literal(text, scalar) ?? .text(text)
    } else if let bool = try? scalar.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? scalar.decode(Int.self) {
      self = .integer(Int128(integer))
    } else if let integer = try? scalar.decode(UInt64.self) {
      self = .integer(Int128(integer))
    } else if let number = try? scalar.decode(Double.self), !number.mayBeRounded {
      self = .number(of: number)
    } else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: scalar.codingPath,
          debugDescription:
            "this is no text, and no number of 64 bits or with a fraction below 2^53"))
    }
  }

  /// Returns the value of a text for a decoder that gives every scalar as a text, as YAML's do.
  ///
  /// Only text that JSON would write for a number or a truth value is one. `01234`, `0x1f`, `no` and `12:30` are
  /// the texts that their authors see, not what YAML 1.1 makes of them.
  private static func literal(
    _ text: String, _ scalar: any SingleValueDecodingContainer
  ) -> DecisionValue? {
    if text == "true" || text == "false" {
      return (try? scalar.decode(Bool.self)).map(DecisionValue.bool)
    }
    guard text.isJSONNumber, (try? scalar.decode(Double.self)) != nil else { return nil }
    if let integer = Int128(text), (Int128(Int.min)...Int128(UInt64.max)).contains(integer) {
      return .integer(integer)
    }
    return Double(text).flatMap { $0.mayBeRounded ? nil : .number(of: $0) }
  }
}

extension Double {
  /// Whether it may stand for a number with more digits. Such numbers are refused.
  fileprivate var mayBeRounded: Bool { magnitude >= 0x1p53 }
}

extension String {
  /// Whether JSON would read it as a number.
  fileprivate var isJSONNumber: Bool {
    // Swift reads more: words, hexadecimal digits, a plus or zeros in front, a point without digits around it.
    let unsigned = utf8.dropFirst(utf8.first == UInt8(ascii: "-") ? 1 : 0)
    let whole = unsigned.prefix { $0.isDigit }
    let behind = unsigned.dropFirst(whole.count)
    return (whole.count == 1 || whole.count > 1 && whole.first != UInt8(ascii: "0"))
      && (behind.first != UInt8(ascii: ".") || behind.dropFirst().first?.isDigit == true)
      && utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) } && Double(self) != nil
  }
}

/// A decimal number with all its digits: 2^53 and 2^53 + 1 differ, `7.0` and `07` do not.
struct DecimalNumber: Hashable, Comparable {
  private let isNegative: Bool
  /// The power of ten that `0.` with the digits is multiplied by; the least there is for zero.
  private let exponent: Int
  /// The digits after `0.`, without zeros at their ends.
  private let digits: [UInt8]

  /// Reads decimal digits as a `Double` does; nil if the text is no number, or too large for a Double.
  init?(_ text: String) {
    guard Double(decimal: text) != nil else { return nil }
    let (mantissa, power) = text.lowercased()[...].split(at: "e")
    let (whole, fraction) = mantissa.drop { "+-".contains($0) }.split(at: ".")
    let zero = UInt8(ascii: "0")
    let all = Array(whole.utf8) + Array((fraction ?? "").utf8)
    let significant = all.drop { $0 == zero }
    // A power beyond `Int32` gives zero here, as a Double reads it.
    let shift = Int32(power ?? "0")
    let end = shift == nil ? nil : significant.lastIndex { $0 != zero }
    digits = end.map { Array(significant[...$0]) } ?? []
    exponent = end == nil ? .min : whole.utf8.count - significant.startIndex + Int(shift ?? 0)
    isNegative = end != nil && text.utf8.first == UInt8(ascii: "-")
  }

  static func < (first: Self, second: Self) -> Bool {
    guard first.isNegative == second.isNegative else { return first.isNegative }
    let (small, large) = first.isNegative ? (second, first) : (first, second)
    guard small.exponent == large.exponent else { return small.exponent < large.exponent }
    return small.digits.lexicographicallyPrecedes(large.digits)
  }
}
