/// Reads the `key=value` fields behind a record's names, one at a time.
struct AttributeFields {
  /// What is wrong with one field.
  enum Failure: Error {
    case invalidUTF8(at: Int)
    case malformed(String)
  }

  /// The keys that the contract gives a meaning: their bytes as one word, the last one lowest.
  private enum Key {
    static let priority: UInt64 = 0x7072_696f_7269_7479
    static let level: UInt64 = 0x6c_6576_656c
    static let scope: UInt64 = 0x73_636f_7065
    static let name: UInt64 = 0x6e61_6d65
    static let abi: UInt64 = 0x61_6269
    static let requires: UInt64 = 0x7265_7175_6972_6573
    static let after: UInt64 = 0x61_6674_6572

    /// Up to eight bytes, none of them NUL, as one integer; nil where there are more.
    static func word(_ key: Span<UInt8>) -> UInt64? {
      guard key.count <= 8 else { return nil }
      var word: UInt64 = 0
      for index in key.indices { word = word << 8 | UInt64(key[index]) }
      return word
    }
  }

  private var fields = Attributes.Fields()
  private var hasPriority = false
  private var isEmpty = true

  /// What was read so far.
  var attributes: Attributes { isEmpty ? Attributes() : Attributes(fields) }

  /// Adds one field, without its NUL.
  mutating func add(_ field: Span<UInt8>) throws(Failure) {
    var equals = 0
    while equals < field.count, field[equals] != UInt8(ascii: "=") { equals += 1 }
    guard equals > 0, equals < field.count else {
      throw .malformed("\"\(try Self.copy(field))\" is no key=value; write it as one")
    }
    isEmpty = false
    let key = field.extracting(0..<equals)
    let value = try Self.copy(field.extracting((equals + 1)...))
    switch Key.word(key) {
    case Key.priority:
      guard !hasPriority else { throw Self.repeated("priority", value) }
      guard let priority = Int32(value) else {
        throw .malformed("\"priority=\(value)\" is no integer of 32 bits; write a plain number")
      }
      hasPriority = true
      fields.priority = Int(priority)
    case Key.level: try Self.set(&fields.level, "level", value)
    case Key.scope: try Self.set(&fields.scope, "scope", value)
    case Key.name: try Self.set(&fields.name, "name", value)
    case Key.abi: try Self.set(&fields.abi, "abi", value)
    case Key.requires: fields.requires.append(try Self.nonEmpty("requires", value))
    case Key.after: fields.after.append(try Self.nonEmpty("after", value))
    default:
      fields.others.append(Attributes.Attribute(key: try Self.copy(key), value: value))
    }
  }

  private static func set(
    _ place: inout String?, _ key: String, _ value: String
  ) throws(Failure) {
    guard place == nil else { throw repeated(key, value) }
    place = try nonEmpty(key, value)
  }

  private static func nonEmpty(_ key: String, _ value: String) throws(Failure) -> String {
    guard !value.isEmpty else {
      throw .malformed("\"\(key)=\" has no value; give one or leave the attribute out")
    }
    return value
  }

  private static func copy(_ bytes: Span<UInt8>) throws(Failure) -> String {
    switch EntryText(copying: bytes) {
    case .text(let text): return text
    case .invalid(let offset): throw .invalidUTF8(at: offset)
    }
  }

  private static func repeated(_ key: String, _ value: String) -> Failure {
    .malformed("\"\(key)=\(value)\" is the second \"\(key)=\" of this record; keep one")
  }
}
