/// Changes single fields of a 64-bit little-endian file's section headers.
struct ELFEditor {
  /// A field of a section header, by its offset in the header.
  enum Field: Int {
    case name = 0, type = 4, flags = 8, address = 16, offset = 24, size = 32, link = 40, info = 44
    case entrySize = 56

    var width: Int { [.name, .type, .link, .info].contains(self) ? 4 : 8 }
  }

  var bytes: [UInt8]
  /// The original indices of the sections by name; of several with one name, the largest section.
  private var indices: [String: Int] = [:]
  /// The name of the section that holds the names.
  private(set) var names = ""

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let (table, count, last) = (Int(table), Int(number(2, at: 60)), Int(number(2, at: 62)))
    let texts = Int(number(8, at: table + last * 64 + 24))
    for index in 0..<count {
      let text = bytes[(texts + Int(number(4, at: table + index * 64)))...].prefix { $0 != 0 }
      let name = String(decoding: text, as: UTF8.self)
      let known = indices[name].map { number(8, at: table + $0 * 64 + 32) }
      let size = number(8, at: table + index * 64 + 32)
      if known.map({ size > $0 }) ?? true { indices[name] = index }
      if index == last { names = name }
    }
  }

  /// The offset of the section table, as the header now gives it.
  var table: UInt64 { number(8, at: 40) }

  /// The bytes of the program headers.
  var segments: [UInt8] {
    let (start, count) = (Int(number(8, at: 32)), Int(number(2, at: 56)))
    return Array(bytes[start..<start + count * 56])
  }

  func number(_ size: Int, at place: Int) -> UInt64 { bytes.number(size, at: place) }

  mutating func put(_ value: UInt64, _ size: Int, at place: Int) {
    bytes.put(value, size, at: place)
  }

  /// Returns the index of a section. An absent name ends the test.
  func index(_ section: String) -> Int {
    guard let index = indices[section] else { preconditionFailure("no section \(section)") }
    return index
  }

  private func place(_ section: String, _ field: Field) -> Int {
    Int(table) + index(section) * 64 + field.rawValue
  }

  func get(_ section: String, _ field: Field) -> UInt64 {
    number(field.width, at: place(section, field))
  }

  mutating func set(_ section: String, _ field: Field, _ value: UInt64) {
    put(value, field.width, at: place(section, field))
  }

  mutating func add(_ value: UInt64, to section: String, _ field: Field) {
    set(section, field, get(section, field) &+ value)
  }
}
