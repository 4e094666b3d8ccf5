/// Reads the `key=value` fields behind a record's names, one at a time.
struct AttributeFields {
  /// What is wrong with one field.
  enum Failure: Error {
    case invalidUTF8(at: Int)
    case malformed(String)
  }

  /// The keys that the contract gives a meaning: their bytes as one word, the last one lowest.
  fileprivate enum Key {
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

/// Whether attributes are in order, found without making values of them.
///
/// True means that `AttributeFields` takes them all; false, that it must be asked.
struct PlainAttributes {
  /// The keys of which each may come once, as bits.
  private var seen: UInt8 = 0

  /// Looks at every field of a text that ends with NUL.
  mutating func takeAll(of text: Span<UInt8>) -> Bool {
    var position = 0
    while position < text.count {
      guard let end = text.first(0, from: position) else { return false }
      if end > position, !take(text.extracting(position..<end)) { return false }
      position = end + 1
    }
    return true
  }

  private mutating func take(_ field: Span<UInt8>) -> Bool {
    guard let equals = field.first(UInt8(ascii: "="), from: 0), equals > 0 else { return false }
    let hasValue = equals + 1 < field.count
    switch AttributeFields.Key.word(field.extracting(0..<equals)) {
    case AttributeFields.Key.priority:
      return once(0) && Self.isSmallNumber(field.extracting((equals + 1)...))
    case AttributeFields.Key.level: return once(1) && hasValue
    case AttributeFields.Key.scope: return once(2) && hasValue
    case AttributeFields.Key.name: return once(3) && hasValue
    case AttributeFields.Key.abi: return once(4) && hasValue
    case AttributeFields.Key.requires, AttributeFields.Key.after: return hasValue
    default: return true
    }
  }

  private mutating func once(_ key: UInt8) -> Bool {
    defer { seen |= 1 << key }
    return seen & 1 << key == 0
  }

  /// Up to nine digits behind an optional minus: fits into 32 bits.
  private static func isSmallNumber(_ text: Span<UInt8>) -> Bool {
    let start = !text.isEmpty && text[0] == UInt8(ascii: "-") ? 1 : 0
    guard (1...9).contains(text.count - start) else { return false }
    for index in start..<text.count {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) else { return false }
    }
    return true
  }
}
