/// Values one after the other as bytes, on their way from a child to its parent.
///
/// One description of a value's fields both writes and reads them, so that the two cannot disagree. What
/// is read may come from a child that a hostile file has taken over: it is a value, or `Broken`.
struct FieldCoder {
  /// The bytes are none that a child of this program would write.
  struct Broken: Error {}

  /// What was written.
  private(set) var bytes: [UInt8] = []
  /// What is still to be read; nil in one that writes.
  private var rest: ArraySlice<UInt8>?

  /// Writes.
  init() {}

  /// Reads these bytes.
  init(reading bytes: [UInt8]) { rest = bytes[...] }

  /// Whether all was read.
  var isAtEnd: Bool { rest?.isEmpty ?? true }

  mutating func code(_ number: inout UInt64) throws(Broken) {
    guard rest != nil else {
      for shift in stride(from: 0, to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
      }
      return
    }
    number = try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func code(_ number: inout Int) throws(Broken) {
    var bits = UInt64(bitPattern: Int64(number))
    try code(&bits)
    number = Int(truncatingIfNeeded: bits)
  }

  mutating func code(_ flag: inout Bool) throws(Broken) {
    var number = flag ? 1 : 0
    try code(&number)
    flag = number == 1
  }

  mutating func code(_ text: inout String) throws(Broken) {
    var count = text.utf8.count
    try code(&count)
    guard rest != nil else {
      bytes += text.utf8
      return
    }
    guard let read = String(validating: try take(count), as: UTF8.self) else { throw Broken() }
    text = read
  }

  mutating func code(_ binary: inout [UInt8]) throws(Broken) {
    var count = binary.count
    try code(&count)
    guard rest != nil else {
      bytes += binary
      return
    }
    binary = Array(try take(count))
  }

  mutating func code<Value: RawRepresentable<String>>(_ value: inout Value) throws(Broken) {
    var text = value.rawValue
    try code(&text)
    guard let read = Value(rawValue: text) else { throw Broken() }
    value = read
  }

  /// `blank` is filled where there is something to be read.
  mutating func code<Value>(
    _ value: inout Value?, _ blank: @autoclosure () -> Value,
    _ body: (inout Self, inout Value) throws(Broken) -> Void
  ) throws(Broken) {
    var isThere = value != nil
    try code(&isThere)
    guard isThere else {
      value = nil
      return
    }
    var filled = value ?? blank()
    try body(&self, &filled)
    value = filled
  }

  mutating func code<Value>(
    _ list: inout [Value], _ blank: @autoclosure () -> Value,
    _ body: (inout Self, inout Value) throws(Broken) -> Void
  ) throws(Broken) {
    var count = list.count
    try code(&count)
    guard rest == nil else {
      list = []
      // Every element takes bytes, so that a count that is a lie ends with them.
      while count > list.count {
        var element = blank()
        try body(&self, &element)
        list.append(element)
      }
      return
    }
    for index in list.indices { try body(&self, &list[index]) }
  }

  mutating func code(_ text: inout String?) throws(Broken) {
    try code(&text, "") { coder, text throws(Broken) in try coder.code(&text) }
  }

  mutating func code(_ number: inout Int?) throws(Broken) {
    try code(&number, 0) { coder, number throws(Broken) in try coder.code(&number) }
  }

  mutating func code(_ texts: inout [String]) throws(Broken) {
    try code(&texts, "") { coder, text throws(Broken) in try coder.code(&text) }
  }

  private mutating func take(_ count: Int) throws(Broken) -> ArraySlice<UInt8> {
    guard let rest, count >= 0, count <= rest.count else { throw Broken() }
    self.rest = rest.dropFirst(count)
    return rest.prefix(count)
  }
}
