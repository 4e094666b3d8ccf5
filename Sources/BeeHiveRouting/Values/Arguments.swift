/// What a call is given: values by name, as they are, or as the texts of a URL.
///
/// What is not of the type that the receiver declares is converted to it as a URL's text would be: an enum from its
/// name, a Double from 2. No number gets lost in that, and a String is made of texts alone.
public struct Arguments: Sendable, ExpressibleByDictionaryLiteral {
  /// One argument.
  enum Argument: Sendable {
    /// A value that was given in this process.
    case value(any Sendable)
    /// What a URL gives: a text for each time that the key stands there.
    case texts([String])
  }

  var values: [String: Argument] = [:]
  /// Keys that are to be taken away where these are put over others.
  var withheld: Set<String> = []

  /// No arguments.
  public init() {}

  /// Values of any Sendable type: objects and `@Sendable` closures too.
  public init(dictionaryLiteral elements: (String, any Sendable)...) {
    for (key, value) in elements { values[key] = .value(value) }
  }

  /// Values of any Sendable type.
  public init(_ values: [String: any Sendable]) {
    self.values = values.mapValues { .value($0) }
  }

  /// Values of any Sendable type; nil is not given, so the receiver's default takes its place.
  ///
  /// - Parameter values: What is given, by name.
  public init(given values: [String: (any Sendable)?]) {
    self.values = values.compactMapValues { $0.map(Argument.value) }
  }

  /// The parameters of a query, which are converted when they are read.
  public init(items: [URLText.Item]) {
    for item in items { append(item.value ?? "", for: item.name) }
  }

  /// The names, in no order.
  public var keys: Set<String> { Set(values.keys) }

  /// Whether nothing is given.
  public var isEmpty: Bool { values.isEmpty }

  /// The value as it was given: a text, or several, for what comes from a URL.
  public subscript(raw key: String) -> (any Sendable)? {
    switch values[key] {
    case .value(let value): value
    case .texts(let texts): texts.count == 1 ? texts[0] : texts
    case nil: nil
    }
  }

  /// Gives a value.
  public mutating func set(_ value: any Sendable, for key: String) { values[key] = .value(value) }

  /// Takes a value away.
  public mutating func remove(_ key: String) { values[key] = nil }

  /// Adds a text, as a URL would: a key that stands there again has several.
  mutating func append(_ text: String, for key: String) {
    // Taken out meanwhile, so that the texts that are there are not copied.
    guard case .texts(var texts) = values.removeValue(forKey: key) else {
      values[key] = .texts([text])
      return
    }
    texts.append(text)
    values[key] = .texts(texts)
  }

  /// The texts that a URL would have for a key; none where it is missing or no URL can hold it.
  func texts(_ key: String) -> [String] {
    switch values[key] {
    case .texts(let texts): texts
    case .value(let value): (value as? any URLConvertible)?.urlTexts ?? []
    case nil: []
    }
  }

  /// Puts other arguments over these.
  func merging(_ others: Arguments) -> Arguments {
    var merged = self
    merged.values.merge(others.values) { _, new in new }
    return merged
  }

  /// The argument as a `Value`; throws where it is missing or cannot be converted to that type.
  ///
  /// An optional type makes a missing one nil.
  public func value<Value: Sendable>(
    _ key: String, as type: Value.Type = Value.self
  ) throws(RoutingError) -> Value {
    if let value = values[key] { return try Self.convert(value, key: key, to: type) }
    if let optional = type as? any OptionalValue.Type, let none = optional.none as? Value {
      return none
    }
    throw RoutingError(
      .missingParameter, "the parameter \(key), of type \(type), is missing; give it", key: key)
  }

  /// The argument as a `Value`: `let id: Int = try call["id"]`.
  public subscript<Value: Sendable>(key: String) -> Value {
    get throws(RoutingError) { try value(key) }
  }

  static func convert<Target: Sendable>(
    _ value: Argument, key: String, to type: Target.Type
  ) throws(RoutingError) -> Target {
    switch value {
    case .value(let value):
      if let value = value as? Target { return value }
      if let given = value as? any URLConvertible {
        let texts = given.urlTexts
        // Every value has a text: one that is no text is hardly meant where a text is asked for.
        if let read = read(texts, as: type),
          given is String || (!(read is String) && keeps(texts, in: read))
        {
          return read
        }
      }
      throw wrong(
        key, type,
        (value as? String).map { "the text \"\($0)\"" }
          ?? "a value of type \(Swift.type(of: value))")
    case .texts(let texts):
      guard type is any URLConvertible.Type else {
        throw wrong(key, type, "a text, and that type is not URLConvertible")
      }
      if let value = read(texts, as: type) { return value }
      throw wrong(
        key, type, texts.count == 1 ? "the text \"\(texts[0])\"" : "\(texts.count) texts")
    }
  }

  /// The value of the texts of a URL; nil if they have none of that type.
  private static func read<Target>(_ texts: [String], as type: Target.Type) -> Target? {
    // In two steps: no value at all would cast to an optional type.
    guard let readable = type as? any URLConvertible.Type,
      let value = readable.value(ofTexts: texts)
    else { return nil }
    return value as? Target
  }

  /// Returns whether numbers are still the same: no digit of a given number gets lost in a smaller type.
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

  private static func wrong(_ key: String, _ type: Any.Type, _ given: String) -> RoutingError {
    RoutingError(
      .wrongParameter,
      "the parameter \(key) is to be of type \(type)\(choices(of: type)), and is given \(given)",
      key: key)
  }

  /// The texts of an enum's cases, for people.
  private static func choices(of type: Any.Type) -> String {
    func texts<Choice: CaseIterable & URLConvertible>(_ type: Choice.Type) -> [String] {
      type.allCases.map(\.urlText)
    }
    guard let type = type as? any (CaseIterable & URLConvertible).Type else { return "" }
    return " (\(texts(type).prefix(9).joined(separator: ", ")))"
  }
}

/// An optional type, whatever it wraps.
protocol OptionalValue {
  /// No value.
  static var none: Self { get }
  /// The name of the type that it wraps.
  static var wrappedName: String { get }
}

extension Optional: OptionalValue {
  static var wrappedName: String { "\(Wrapped.self)" }
}
