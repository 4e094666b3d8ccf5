internal import Synchronization

/// The types that a pattern may name. They make values of a segment's text.
struct SegmentTypes: Sendable {
  /// Makes a value of a text, or refuses it. Called without a lock.
  typealias Converter = @Sendable (String) -> (any URLConvertible)?

  struct SegmentType: Sendable {
    /// The name in lower case.
    let name: String
    /// The order of types if several may take a segment; the smallest is tried first.
    let rank: Int
    /// The type in Swift; nil for a type of the host.
    var swiftType: (any URLConvertible.Type)?
    let convert: Converter
    let number = nextNumber()

    static func of<Value: URLConvertible>(_ type: Value.Type, _ name: String, rank: Int) -> Self {
      Self(name: name, rank: rank, swiftType: type) { Value(urlText: $0) }
    }

    /// Makes the value that a handler gets of an argument of a host's type: by `convert`, if the argument has a text
    /// that it takes. Returns nil for no value, if none is needed.
    func value(
      of argument: Arguments.Argument, for key: PatternKey
    ) throws(RoutingError) -> Arguments.Argument? {
      let texts = argument.texts
      if key.isOptional, key.default == nil, texts?.isEmpty == true { return nil }
      guard let texts, texts.count == 1, let value = convert(texts[0]) else {
        throw Arguments.wrong(key.name, key.type, argument.said)
      }
      // A value of the type is handed over as it is.
      if case .value(let given) = argument, !(given is String) { return argument }
      return .value(value)
    }
  }

  /// The types that every pattern may name.
  static let builtIn = SegmentTypes()

  private var types: [String: SegmentType] = [:]

  init() {
    for type in [
      .of(UUIDValue.self, BuiltInType.uuid.rawValue, rank: 0),
      .of(Int.self, BuiltInType.int.rawValue, rank: 1),
      .of(Double.self, BuiltInType.double.rawValue, rank: 2),
      .of(Bool.self, BuiltInType.bool.rawValue, rank: 3),
      // The rest of a path, as one text that does not lead up.
      SegmentType(name: "path", rank: 5, swiftType: String.self) { $0.climbs ? nil : $0 },
    ] as [SegmentType] {
      types[type.name] = type
    }
  }

  /// Adds a type of the host, and returns its number; throws if the name is taken.
  @discardableResult
  mutating func define(_ name: String, _ read: @escaping Converter) throws(RoutingError) -> UInt64 {
    let key = PatternSegment.typeKey(name)
    try RoutingError.check(
      types[key] == nil && key != "string", .duplicate,
      "the type \(name) of patterns is defined already")
    let type = SegmentType(name: key, rank: 4, convert: read)
    types[key] = type
    return type.number
  }

  /// Removes a type of the host, and returns it; nil if another type has taken its name.
  mutating func remove(_ name: String, _ number: UInt64) -> SegmentType? {
    let key = PatternSegment.typeKey(name)
    return types[key]?.number == number ? types.removeValue(forKey: key) : nil
  }

  /// Returns the type of this name, nil for any text; throws if there is none.
  func type(named name: String, in pattern: String) throws(RoutingError) -> SegmentType? {
    let key = PatternSegment.typeKey(name)
    if key == "string" { return nil }
    if let type = types[key] { return type }
    let known = (types.keys + ["float", "string"]).sorted()
    throw RoutingError(
      .unknownType,
      "the pattern \(pattern.excerpt) names the type \(name.excerpt), which is not defined; there are "
        + known.joined(separator: ", ") + " in either case, and what router.define adds"
        + near(name, in: known))
  }

  /// Returns whether a text can be of a type. An unknown type may be anything.
  func mayHold(_ text: String, as name: String) -> Bool {
    types[PatternSegment.typeKey(name)].map { $0.convert(text) != nil } ?? true
  }

  /// Returns the text of the value that a text is read as: `7` for `007` as an integer.
  func normal(_ text: String, as name: String?) -> String {
    name.flatMap { types[PatternSegment.typeKey($0)]?.convert(text)?.urlText } ?? text
  }
}

private let numbers = Atomic<UInt64>(0)

/// Returns the next number: of a call, a route, a rule.
func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

/// A value that another may replace. Whoever removes it checks that it still has the number.
typealias Numbered<Value> = (number: UInt64, value: Value)
