/// Any key, so that one that the schema does not have is found.
struct SchemaKey: CodingKey {
  var stringValue: String
  var intValue: Int?

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }
}

typealias SchemaObject = KeyedDecodingContainer<SchemaKey>

extension KeyedDecodingContainer<SchemaKey> {
  /// An object that has no key but these.
  static func read(_ decoder: any Decoder, _ known: String...) throws -> Self {
    let object = try decoder.container(keyedBy: SchemaKey.self)
    if let key = object.allKeys.first(where: { !known.contains($0.stringValue) }) {
      throw object.wrong(
        key.stringValue,
        "the schema has no key \(key.stringValue) here; it has \(known.joined(separator: ", "))")
    }
    return object
  }

  func value<Value: Decodable>(_ key: String) throws -> Value {
    try decode(Value.self, forKey: SchemaKey(key))
  }

  /// The value of a key that may be missing; null is no value of any key.
  func optional<Value: Decodable>(_ key: String) throws -> Value? {
    guard has(key) else { return nil }
    let found: Value = try value(key)
    return found
  }

  func has(_ key: String) -> Bool { contains(SchemaKey(key)) }

  /// The one of these keys that is there.
  func only(_ keys: String...) throws -> String {
    let given = keys.filter(has)
    guard given.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: codingPath,
          debugDescription: "exactly one of \(keys.joined(separator: ", ")) belongs here"))
    }
    return given[0]
  }

  func wrong(_ key: String, _ message: String) -> DecodingError {
    .dataCorruptedError(forKey: SchemaKey(key), in: self, debugDescription: message)
  }
}

extension KeyedEncodingContainer<SchemaKey> {
  mutating func put<Value: Encodable>(_ key: String, _ value: Value) throws {
    try encode(value, forKey: SchemaKey(key))
  }
}

extension DecisionTable: Codable {
  /// Reads `{"version": 1, "name": …, "rules": […]}`.
  public init(from decoder: any Decoder) throws {
    let object = try SchemaObject.read(decoder, "version", "name", "rules")
    version = try object.value("version")
    guard version == Self.currentVersion else {
      throw object.wrong(
        "version", "this library reads version \(Self.currentVersion) of the schema, not \(version)"
      )
    }
    name = try object.optional("name") ?? ""
    rules = try object.value("rules")
  }

  /// Writes the schema's form.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: SchemaKey.self)
    try object.put("version", version)
    if !name.isEmpty { try object.put("name", name) }
    try object.put("rules", rules)
  }
}

extension DecisionTable.Rule: Codable {
  /// Reads `{"name": …, "match": …, "when": […], "do": …, "priority": 0}`.
  public init(from decoder: any Decoder) throws {
    let object = try SchemaObject.read(decoder, "name", "match", "when", "do", "priority")
    name = try object.value("name")
    match = try object.value("match")
    conditions = try object.optional("when") ?? []
    outcome = try object.value("do")
    priority = try object.optional("priority") ?? 0
  }

  /// Writes the schema's form.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: SchemaKey.self)
    try object.put("name", name)
    try object.put("match", match)
    if !conditions.isEmpty { try object.put("when", conditions) }
    try object.put("do", outcome)
    if priority != 0 { try object.put("priority", priority) }
  }
}

extension DecisionTable.Match: Codable {
  /// Reads `{"url": …}`, `{"target": …, "action": …}` or `{}`, each with an `origin` or without.
  public init(from decoder: any Decoder) throws {
    let object = try SchemaObject.read(decoder, "url", "target", "action", "origin")
    origin = try object.optional("origin")
    if object.has("url"), object.has("target") || object.has("action") {
      throw object.wrong("url", "a rule matches by a URL or by names, not by both")
    }
    if let url: String = try object.optional("url") {
      subject = .url(url)
    } else if object.has("target") || object.has("action") {
      subject = .action(
        target: try object.optional("target") ?? "*", action: try object.optional("action") ?? "*")
    } else {
      subject = .everything
    }
  }

  /// Writes the schema's form.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: SchemaKey.self)
    switch subject {
    case .url(let url): try object.put("url", url)
    case .action(let target, let action):
      try object.put("target", target)
      try object.put("action", action)
    case .everything: break
    }
    if let origin { try object.put("origin", origin) }
  }
}

extension DecisionTable.Condition: Codable {
  /// Reads `{"parameter": …, "is" | "isNot" | "in" | "given": …}` or `{"guard": …, "is": true}`.
  public init(from decoder: any Decoder) throws {
    let object = try SchemaObject.read(
      decoder, "parameter", "guard", "is", "isNot", "in", "given")
    if try object.only("parameter", "guard") == "guard" {
      _ = try SchemaObject.read(decoder, "guard", "is")
      self = .hostGuard(try object.value("guard"), try object.optional("is") ?? true)
      return
    }
    let key: String = try object.value("parameter")
    switch try object.only("is", "isNot", "in", "given") {
    case "is": self = .isOne(key, of: [try object.value("is")], isNot: false)
    case "isNot": self = .isOne(key, of: [try object.value("isNot")], isNot: true)
    case "in": self = .isOne(key, of: try object.value("in"), isNot: false)
    default: self = .given(key, try object.value("given"))
    }
  }

  /// Writes the schema's form.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: SchemaKey.self)
    switch self {
    case .hostGuard(let name, let value):
      try object.put("guard", name)
      try object.put("is", value)
    case .given(let key, let value):
      try object.put("parameter", key)
      try object.put("given", value)
    case .isOne(let key, let values, let isNot):
      try object.put("parameter", key)
      if let value = values.first, values.count == 1 {
        try object.put(isNot ? "isNot" : "is", value)
      } else {
        try object.put("in", values)
      }
    }
  }
}

extension DecisionTable.Outcome: Codable {
  /// Where a redirection leads that names no URL.
  private struct Names: Codable {
    var target: String
    var action: String

    init(target: String, action: String) {
      self.target = target
      self.action = action
    }

    init(from decoder: any Decoder) throws {
      let object = try SchemaObject.read(decoder, "target", "action")
      target = try object.value("target")
      action = try object.value("action")
    }
  }

  /// Reads one of `redirect`, `block`, `replace` and `answer`.
  public init(from decoder: any Decoder) throws {
    let object = try SchemaObject.read(decoder, "redirect", "block", "replace", "answer")
    switch try object.only("redirect", "block", "replace", "answer") {
    case "redirect":
      if let url = try? object.value("redirect") as String {
        self = .redirectToURL(url)
      } else {
        let names: Names = try object.value("redirect")
        self = .redirect(target: names.target, action: names.action)
      }
    case "block": self = .block(try object.value("block"))
    case "replace": self = .replace(try object.value("replace"))
    default: self = .answer(try object.value("answer"))
    }
  }

  /// Writes the schema's form.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: SchemaKey.self)
    switch self {
    case .redirectToURL(let url): try object.put("redirect", url)
    case .redirect(let target, let action):
      try object.put("redirect", Names(target: target, action: action))
    case .block(let reason): try object.put("block", reason)
    case .replace(let values): try object.put("replace", values)
    case .answer(let value): try object.put("answer", value)
    }
  }
}

extension DecisionValue: Codable {
  /// Reads null, a truth value, a number, a text, or an array of these.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? value.decode(Int.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else {
      self = .array(try value.decode([DecisionValue].self))
    }
  }

  /// Writes the value.
  public func encode(to encoder: any Encoder) throws {
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
}
