/// The types that a pattern may name, and what makes a value of a segment's text.
struct SegmentTypes: Sendable {
  /// Makes a value of a text, or refuses it. Called without a lock.
  typealias Converter = @Sendable (String) -> (any URLConvertible)?

  struct SegmentType: Sendable {
    /// The name in lower case.
    var name: String
    /// Which type is tried first where several may take a segment.
    var rank: Int
    var convert: Converter
  }

  /// Those that every pattern may name.
  static let builtIn = SegmentTypes()

  private var types: [String: SegmentType] = [:]

  init() {
    add("uuid", rank: 0, UUIDValue.init(urlText:))
    add("int", rank: 1, Int.init(urlText:))
    add("double", rank: 2, Double.init(urlText:))
    add("bool", rank: 3, Bool.init(urlText:))
  }

  private mutating func add<Value: URLConvertible>(
    _ name: String, rank: Int, _ convert: @escaping @Sendable (String) -> Value?
  ) {
    types[name] = SegmentType(name: name, rank: rank) { convert($0) }
  }

  /// Adds a type of the host's; throws where the name is taken.
  mutating func define(_ name: String, _ convert: @escaping Converter) throws(RoutingError) {
    let key = PatternSegment.typeKey(name)
    guard types[key] == nil, !["string", "path"].contains(key) else {
      throw RoutingError(.duplicate, "the type \(name) of patterns is defined already")
    }
    types[key] = SegmentType(name: key, rank: 4, convert: convert)
  }

  /// Takes out a type of the host's, and answers it.
  mutating func remove(_ name: String) -> SegmentType? {
    types.removeValue(forKey: PatternSegment.typeKey(name))
  }

  /// The type of this name; throws where there is none.
  func type(named name: String, in pattern: String) throws(RoutingError) -> SegmentType {
    if let type = types[PatternSegment.typeKey(name)] { return type }
    let known = (types.keys + ["float", "path", "string"]).sorted()
    throw RoutingError(
      .unknownType,
      "the pattern \(pattern) names the type \(name), which nobody has defined; there are "
        + known.joined(separator: ", ") + SimilarNames(to: name, among: known).question)
  }

  /// Checks that the types of a pattern's keys are known and that defaults are of them. Calls converters of
  /// the host's, so no lock may be held.
  func check(keysOf pattern: RoutePattern) throws(RoutingError) {
    for key in pattern.keys where key.type.lowercased() != "string" {
      let type = try type(named: key.type, in: pattern.text)
      if let text = key.defaultText, type.convert(text) == nil {
        throw RoutingError(
          .badPattern,
          "the pattern \(pattern) cannot be used: the default of \(key.name) is no \(key.type)")
      }
    }
  }

  /// Makes the value of a text of the query; nil where it is none of that type.
  func value(of text: String, as name: String) -> (any URLConvertible)? {
    let key = PatternSegment.typeKey(name)
    return key == "string" ? text : types[key]?.convert(text)
  }

  /// Returns whether a text can be of a type; one that is not known here may be anything.
  func mayHold(_ text: String, as name: String) -> Bool {
    types[PatternSegment.typeKey(name)].map { $0.convert(text) != nil } ?? true
  }

  /// Returns the text of the value that a text is read as: `7` for `007` as an integer.
  func normal(_ text: String, as name: String?) -> String {
    name.flatMap { types[PatternSegment.typeKey($0)]?.convert(text)?.urlText } ?? text
  }
}
