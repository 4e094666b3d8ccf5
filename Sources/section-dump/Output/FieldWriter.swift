internal import BinaryImage

/// Takes the fields of what is listed, one after another: keys of a JSON object, or columns of CSV.
protocol FieldWriter {
  /// Whether a field may be an object or an array.
  static var nests: Bool { get }

  /// Takes a text of a file.
  mutating func string(key name: StaticString?, _ text: String?)
  /// Takes a text of a file that need not be UTF-8; JSON has its bytes as another key then.
  mutating func string(key name: StaticString, _ text: [UInt8]?, bytesKey: StaticString)
  /// Takes a text of the tool.
  mutating func message(key name: StaticString?, _ text: String?)
  mutating func number(key name: StaticString?, _ number: Int?)
  /// Takes a size in bytes; JSON says one that is larger than any number of its readers as the largest.
  mutating func size(key name: StaticString?, _ size: UInt64?)
  mutating func hexadecimal(key name: StaticString?, _ number: UInt64?)
  /// Takes what `write` writes as JSON, which is a text in CSV.
  mutating func nested(key name: StaticString, _ write: (inout JSONWriter) -> Void)
}

/// The names of fields: the first line of CSV.
struct FieldNames: FieldWriter {
  static var nests: Bool { false }

  private(set) var names: [String] = []

  /// Collects the names of the fields that `write` writes.
  init(_ write: (inout Self) -> Void) { write(&self) }

  mutating func string(key name: StaticString?, _: String?) { add(name) }
  mutating func string(key name: StaticString, _: [UInt8]?, bytesKey: StaticString) { add(name) }
  mutating func message(key name: StaticString?, _: String?) { add(name) }
  mutating func number(key name: StaticString?, _: Int?) { add(name) }
  mutating func size(key name: StaticString?, _: UInt64?) { add(name) }
  mutating func hexadecimal(key name: StaticString?, _: UInt64?) { add(name) }
  mutating func nested(key name: StaticString, _: (inout JSONWriter) -> Void) { add(name) }

  private mutating func add(_ name: StaticString?) { names += name.map { ["\($0)"] } ?? [] }
}
