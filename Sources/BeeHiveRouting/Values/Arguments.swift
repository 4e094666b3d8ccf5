/// The arguments of a call: values by name, as they are, or as the texts of a URL.
///
/// A value of another type than the declared one is converted as a URL's text would be: an enum from its name,
/// a Double from 2. Numbers lose no digits in that, and only texts become a String.
public struct Arguments: Sendable, ExpressibleByDictionaryLiteral {
  /// One argument.
  enum Argument: Sendable {
    /// A value that was given in this process.
    case value(any Sendable)
    /// The texts that a URL gives: one for each time that it has the key.
    case texts([String])

    /// The texts that a URL would have; nil if no URL can hold the value.
    var texts: [String]? {
      switch self {
      case .texts(let texts): texts
      case .value(let value as any URLConvertible): value.urlTexts
      // Other numbers, such as a Decimal, have digits too.
      case .value(let value): (value as? any Numeric).map { ["\($0)"] }
      }
    }

    /// The given value, for people.
    var said: String {
      switch self {
      case .value(let value as String): "the text \"\(value.excerpt)\""
      case .value(let value): "a value of type \(type(of: value))"
      case .texts(let texts):
        texts.count == 1 ? "the text \"\(texts[0].excerpt)\"" : "\(texts.count) texts"
      }
    }
  }

  var values: [String: Argument] = [:]
  /// Keys to remove when these arguments are put over others.
  var withheld: Set<String> = []

  /// Creates an empty value, without arguments.
  package init() {}

  /// Gives values of any Sendable type: objects and `@Sendable` closures too.
  ///
  /// - Parameter elements: Names and values; of a name that is given twice, the last value is used.
  public init(dictionaryLiteral elements: (String, any Sendable)...) {
    for (key, value) in elements { values[key] = .value(value) }
  }

  /// Gives values of any Sendable type and skips those that are nil.
  ///
  /// - Parameter values: The values by name; for nil, the receiver's default is used.
  public init(given values: [String: (any Sendable)?]) {
    self.values = values.compactMapValues { $0.map(Argument.value) }
  }

  /// Gives the parameters of a query, which are converted when they are read.
  ///
  /// - Parameter items: The parameters. A key without `=` has an empty text, a repeated key several texts.
  public init(items: [URLText.Item]) {
    for item in items { append(item.value ?? "", for: item.name) }
  }

  /// The names, in no order.
  public var keys: Set<String> { Set(values.keys) }

  /// Whether nothing is given.
  package var isEmpty: Bool { values.isEmpty }

  /// The value as it was given; setting nil removes it.
  ///
  /// - Parameter key: The argument's name.
  /// - Returns: The value. A value from a URL is a `String`, or `[String]` for a repeated key. Nil if it is
  ///   not given.
  public subscript(raw key: String) -> (any Sendable)? {
    get {
      switch values[key] {
      case .value(let value): value
      case .texts(let texts): texts.count == 1 ? texts[0] : texts
      case nil: nil
      }
    }
    set { values[key] = newValue.map(Argument.value) }
  }

  /// Adds a text, as a URL would: a repeated key has several texts.
  mutating func append(_ text: String, for key: String) {
    // Removed meanwhile, so that the present texts are not copied.
    guard case .texts(var texts) = values.removeValue(forKey: key) else {
      values[key] = .texts([text])
      return
    }
    texts.append(text)
    values[key] = .texts(texts)
  }

  /// Returns the texts that a URL would have for a key; none if it is missing or no URL can hold it.
  func texts(_ key: String) -> [String] { values[key]?.texts ?? [] }

  /// Returns these arguments with others put over them.
  func merging(_ others: Arguments) -> Arguments {
    var merged = self
    merged.values.merge(others.values) { _, new in new }
    return merged
  }

  /// Returns an argument as a `Value`, converted if need be.
  ///
  /// - Parameters:
  ///   - key: The argument's name.
  ///   - type: The type of the result; an optional one makes a missing argument nil.
  /// - Returns: The value.
  /// - Throws: ``RoutingError`` with `missingParameter`, or with `wrongParameter` if it cannot be converted.
  public func value<Value: Sendable>(
    _ key: String, as type: Value.Type = Value.self
  ) throws(RoutingError) -> Value {
    if let value = values[key] { return try Self.convert(value, key: key, to: type) }
    if type is any ExpressibleByNilLiteral.Type, let none = Never?.none as Any as? Value {
      return none
    }
    throw RoutingError(
      .missingParameter, "the parameter \(key), of type \(type), is missing; give it", key: key)
  }

  /// Returns an argument as a `Value`: `let id: Int = try arguments["id"]`.
  ///
  /// - Parameter key: The argument's name.
  /// - Returns: The value, converted if need be; nil for a missing one if the type is optional.
  /// - Throws: ``RoutingError`` with `missingParameter`, or with `wrongParameter` if it cannot be converted.
  public subscript<Value: Sendable>(key: String) -> Value {
    get throws(RoutingError) { try value(key) }
  }

  static func convert<Value: Sendable>(
    _ argument: Argument, key: String, to type: Value.Type
  ) throws(RoutingError) -> Value {
    switch argument {
    case .value(let value):
      if let value = value as? Value { return value }
      if let given = value as? any URLConvertible {
        let texts = given.urlTexts
        // Every value has a text, but who asks for a text hardly means the text of another value.
        if let read = read(texts, as: type),
          given is String || (!(read is String) && keeps(texts, in: read))
        {
          return read
        }
      }
    case .texts(let texts):
      guard type is any URLConvertible.Type else {
        throw wrong(key, "\(type)", "a text, and that type is not URLConvertible")
      }
      if let value = read(texts, as: type) { return value }
    }
    throw wrong(key, "\(type)", argument.said)
  }

  /// Returns the value of the texts of a URL; nil if they are not of that type.
  private static func read<Value>(_ texts: [String], as type: Value.Type) -> Value? {
    // In two steps, because no value at all would cast to an optional type.
    guard let readable = type as? any URLConvertible.Type,
      let value = readable.value(ofTexts: texts)
    else { return nil }
    return value as? Value
  }

  /// Returns whether numbers are still the same: a smaller type must lose no digit of a given number.
  private static func keeps(_ texts: [String], in value: any Sendable) -> Bool {
    let others = (value as? any URLConvertible)?.urlTexts ?? []
    return zip(texts, others).allSatisfy { text, other in
      guard text != other, let before = Double(urlText: text), let after = Double(urlText: other)
      else {
        return true
      }
      return before == after && (Int128(text).map { $0 == Int128(exactly: after) } ?? true)
    }
  }

  static func wrong(_ key: String, _ type: String, _ given: String) -> RoutingError {
    RoutingError(
      .wrongParameter, "the parameter \(key) is to be of type \(type), and is given \(given)",
      key: key)
  }
}
