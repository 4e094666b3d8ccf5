internal import BinaryImage

/// One field of what is listed: a key of its JSON object, and a column of its rows in CSV.
struct Field<Listed>: Sendable {
  let name: StaticString
  /// Writes the key and the value.
  let write: @Sendable (Listed, inout JSONWriter) -> Void
  /// The value in CSV.
  let cell: @Sendable (Listed) -> String

  static func text(
    _ name: StaticString, _ value: @escaping @Sendable (Listed) -> String?
  ) -> Self {
    Self(name: name, write: { $1.string(key: name, value($0)) }, cell: { value($0) ?? "" })
  }

  static func number(_ name: StaticString, _ value: @escaping @Sendable (Listed) -> Int?) -> Self {
    Self(
      name: name, write: { $1.number(key: name, value($0)) },
      cell: { value($0).map { String($0) } ?? "" })
  }

  /// A size in bytes; JSON says one that is larger than any number of its readers as the largest.
  static func size(_ name: StaticString, _ value: @escaping @Sendable (Listed) -> UInt64) -> Self {
    Self(
      name: name, write: { $1.number(key: name, Int(clamping: value($0))) },
      cell: { String(value($0)) })
  }

  static func hexadecimal(
    _ name: StaticString, _ value: @escaping @Sendable (Listed) -> UInt64?
  ) -> Self {
    text(name) { value($0)?.hexadecimal }
  }
}

extension JSONWriter {
  /// Writes fields of what is listed, into its object.
  mutating func fields<Listed>(_ fields: [Field<Listed>], of listed: Listed) {
    for field in fields { field.write(listed, &self) }
  }
}

extension Array {
  /// The first line of CSV.
  func columns<Listed>() -> [String] where Element == Field<Listed> { map { "\($0.name)" } }

  /// A row of CSV.
  func cells<Listed>(of listed: Listed) -> [String] where Element == Field<Listed> {
    map { $0.cell(listed) }
  }
}
