/// Values one after the other as bytes, on their way from a child to its parent.
///
/// One description of a value's fields both writes and reads them, so that the two cannot disagree. What
/// is read may come from a child that a hostile file has taken over: it is a value, or `Broken`.
struct FieldCoder {
  /// The bytes are none that a child of this program would write.
  struct Broken: Error {}

  /// What was written.
  fileprivate(set) var bytes: [UInt8] = []
  /// What is still to be read; nil in one that writes.
  private var rest: ArraySlice<UInt8>?

  /// Writes.
  init() {}

  /// Reads these bytes.
  init(reading bytes: [UInt8]) { rest = bytes[...] }

  /// Whether all was read.
  var isAtEnd: Bool { rest?.isEmpty ?? true }

  fileprivate var isReading: Bool { rest != nil }

  mutating func code(_ value: inout some Coded) throws(Broken) { try value.code(with: &self) }

  fileprivate mutating func take(_ count: Int) throws(Broken) -> ArraySlice<UInt8> {
    guard let rest, count >= 0, count <= rest.count else { throw Broken() }
    self.rest = rest.dropFirst(count)
    return rest.prefix(count)
  }
}

/// What a `FieldCoder` writes, and reads into a value that is there already.
protocol Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken)
}

/// What is coded field by field.
protocol Fielded: Coded {
  static var fields: Fields<Self> { get }
}

/// The fields of a value, in their order.
struct Fields<Value> {
  fileprivate let code: (inout Value, inout FieldCoder) throws(FieldCoder.Broken) -> Void

  init<each Field: Coded>(_ paths: repeat WritableKeyPath<Value, each Field>) {
    code = { value, coder throws(FieldCoder.Broken) in
      repeat try value[keyPath: each paths].code(with: &coder)
    }
  }
}

extension Fielded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try Self.fields.code(&self, &coder)
  }
}

/// What it also reads where there may be none or several.
protocol Blank: Coded {
  /// What is filled with what is read.
  static var blank: Self { get }
}

extension Coded {
  /// The value as bytes; nil where no bytes can say it.
  var coded: [UInt8]? {
    var (value, coder) = (self, FieldCoder())
    return (try? value.code(with: &coder)) == nil ? nil : coder.bytes
  }

  /// Takes over what bytes say, and throws where they say something else or go on.
  mutating func read(_ bytes: [UInt8]) throws(FieldCoder.Broken) {
    var coder = FieldCoder(reading: bytes)
    try code(with: &coder)
    guard coder.isAtEnd else { throw FieldCoder.Broken() }
  }
}

extension FixedWidthInteger where Self: Blank {
  static var blank: Self { 0 }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    guard coder.isReading else {
      for shift in stride(from: 0, to: Self.bitWidth, by: 8) {
        coder.bytes.append(UInt8(truncatingIfNeeded: self >> shift))
      }
      return
    }
    self = try coder.take(Self.bitWidth / 8).reversed()
      .reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }
}

extension UInt8: Blank {}
extension UInt16: Blank {}
extension UInt64: Blank {}
extension Int: Blank {}

extension Bool: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var number: UInt8 = self ? 1 : 0
    try coder.code(&number)
    self = number == 1
  }
}

extension String: Blank {
  static var blank: Self { "" }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var count = utf8.count
    try coder.code(&count)
    guard coder.isReading else {
      coder.bytes += utf8
      return
    }
    guard let read = String(validating: try coder.take(count), as: UTF8.self) else {
      throw FieldCoder.Broken()
    }
    self = read
  }
}

extension Array: Blank, Coded where Element: Blank {
  static var blank: Self { [] }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var count = count
    try coder.code(&count)
    if coder.isReading { self = [] }
    for index in indices { try coder.code(&self[index]) }
    // Every element takes bytes, so that a count that is a lie ends with them.
    while count > self.count {
      var element = Element.blank
      try coder.code(&element)
      append(element)
    }
  }
}

extension Optional: Coded where Wrapped: Blank {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var isThere = self != nil
    try coder.code(&isThere)
    guard isThere else {
      self = nil
      return
    }
    var value = self ?? .blank
    try coder.code(&value)
    self = value
  }
}

extension RawRepresentable where Self: Coded, RawValue: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var raw = rawValue
    try coder.code(&raw)
    guard let read = Self(rawValue: raw) else { throw FieldCoder.Broken() }
    self = read
  }
}
