package import Registration

extension AdmissionReport {
  /// The report as JSON, for hosts without an encoder: what `JSONEncoder` makes of it, and null where something is
  /// missing.
  public var json: String { "\(value.text)\n" }

  /// The same with further members before and behind.
  package func document(_ first: [JSONValue.Member], _ last: [JSONValue.Member]) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(first + members + last)
  }

  private var value: JSONValue {
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
