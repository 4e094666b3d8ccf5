package import Registration

extension AdmissionReport {
  /// The report as JSON, for hosts without an encoder: what `JSONEncoder` makes of it.
  public var json: String { "\(value.text)\n" }

  /// The same with further members before and behind.
  package func document(_ first: [JSONValue.Member], _ last: [JSONValue.Member]) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(first + members + last)
  }

  /// The report as a value of JSON.
  package var value: JSONValue {
    .object([
      .init("host", .string(host)), .init("machine", .string(machine)),
      .init("libraries", .integer(Int64(libraries))),
      .init("problems", .array(problems.map(JSONValue.string))),
      .init("plugins", .array(plugins.map(\.value))),
    ])
  }
}

extension AdmissionReport.Plugin {
  /// The plugin as a value of JSON.
  package var value: JSONValue {
    .object([
      .init("path", .string(path)), .init("loads", .boolean(loads)),
      .init("order", order.map { .integer(Int64($0)) } ?? .null),
      .init("offers", .array(offers.map(JSONValue.string))),
      .init("needs", .array(needs.map(JSONValue.string))),
      .init("refusals", .array(refusals.map(\.value))),
      .init("remarks", .array(remarks.map(JSONValue.string))),
    ])
  }
}

extension PluginRefusal {
  fileprivate var value: JSONValue {
    let members = [
      ("code", code), ("message", message), ("expected", expected), ("found", found),
      ("remedy", remedy), ("cause", cause),
    ]
    return .object(members.map { JSONValue.Member($0, $1.map(JSONValue.string) ?? .null) })
  }
}

// An encoder writes the same value, so keys are always there: what is nil is null.

extension AdmissionReport {
  /// Writes what ``json`` has.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension AdmissionReport.Plugin {
  /// Writes all of it, and null where it has no order.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension PluginRefusal {
  /// Writes all of it, and null for what is missing.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension JSONValue: Encodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: Key.self)
      for member in members {
        try container.encode(member.value, forKey: Key(stringValue: member.key))
      }
    case .array(let elements): try elements.encode(to: encoder)
    case .string(let text): try text.encode(to: encoder)
    case .integer(let number): try number.encode(to: encoder)
    case .boolean(let truth): try truth.encode(to: encoder)
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }
}
