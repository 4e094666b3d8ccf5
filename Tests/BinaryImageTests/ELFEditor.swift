/// Changes single fields of a 64-bit little-endian file's section headers.
struct ELFEditor {
  /// A field of a section header: where it stands there, and its size.
  enum Field {
    case name, type, flags, address, offset, size, link, info, entrySize

    var place: (offset: Int, size: Int) {
      switch self {
      case .name: (0, 4)
      case .type: (4, 4)
      case .flags: (8, 8)
      case .address: (16, 8)
      case .offset: (24, 8)
      case .size: (32, 8)
      case .link: (40, 4)
      case .info: (44, 4)
      case .entrySize: (56, 8)
      }
    }
  }

  var bytes: [UInt8]
  /// The sections by name, of several the largest, as they were at first.
  private var indices: [String: Int] = [:]
  /// The name of the section that holds the names.
  let names: String

  init(_ bytes: [UInt8]) {
    func number(_ size: Int, _ place: Int) -> Int {
      (0..<size).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
    }
    let table = number(8, 40)
    let texts = number(8, table + number(2, 62) * 64 + 24)
    func name(_ index: Int) -> String {
      let start = texts + number(4, table + index * 64)
      return String(decoding: bytes[start...].prefix { $0 != 0 }, as: UTF8.self)
    }
    self.bytes = bytes
    names = name(number(2, 62))
    for index in 0..<number(2, 60) {
      let known = indices[name(index)].map { number(8, table + $0 * 64 + 32) } ?? -1
      if number(8, table + index * 64 + 32) > known { indices[name(index)] = index }
    }
  }

  /// Where the section table stands, as the header says now.
  var table: UInt64 { number(8, at: 40) }

  func number(_ size: Int, at place: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64($1 * 8) }
  }

  mutating func put(_ value: UInt64, _ size: Int, at place: Int) {
    for index in 0..<size {
      bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8))
    }
  }

  /// The index of a section; a name that is not there ends the test.
  func index(_ section: String) -> Int {
    guard let index = indices[section] else { preconditionFailure("no section \(section)") }
    return index
  }

  private func place(_ section: String, _ field: Field) -> Int {
    Int(table) + index(section) * 64 + field.place.offset
  }

  func get(_ section: String, _ field: Field) -> UInt64 {
    number(field.place.size, at: place(section, field))
  }

  mutating func set(_ section: String, _ field: Field, _ value: UInt64) {
    put(value, field.place.size, at: place(section, field))
  }

  mutating func add(_ value: UInt64, to section: String, _ field: Field) {
    set(section, field, get(section, field) &+ value)
  }
}
