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

// Keys are always there: what is nil is null.

extension AdmissionReport.Plugin {
  private enum CodingKeys: CodingKey {
    case path, loads, order, offers, needs, refusals, remarks
  }

  /// Writes all of it, and null where it has no order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(path, forKey: .path)
    try container.encode(loads, forKey: .loads)
    try container.encode(order, forKey: .order)
    try container.encode(offers, forKey: .offers)
    try container.encode(needs, forKey: .needs)
    try container.encode(refusals, forKey: .refusals)
    try container.encode(remarks, forKey: .remarks)
  }
}

extension PluginRefusal {
  private enum CodingKeys: CodingKey {
    case code, message, expected, found, remedy, cause
  }

  /// Writes all of it, and null for what is missing.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(message, forKey: .message)
    try container.encode(expected, forKey: .expected)
    try container.encode(found, forKey: .found)
    try container.encode(remedy, forKey: .remedy)
    try container.encode(cause, forKey: .cause)
  }
}
