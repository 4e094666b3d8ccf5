internal import BinaryImage
internal import Registration

/// What could not be read of a file, or was refused in it.
struct Problem {
  var code: String
  var section: String?
  var index: Int?
  var offset: UInt64?
  var message: String

  init(_ error: ImageError) {
    code = error.code.rawValue
    section = error.section
    index = error.index
    offset = error.offset?.rawValue
    message = error.message
  }

  init(_ rejection: Rejection) {
    code = rejection.reason.rawValue
    section = rejection.origin.section
    index = rejection.origin.index
    offset = rejection.origin.offset?.rawValue
    message = rejection.message
  }

  /// The line on standard error: path, place, reason.
  func line(path: String) -> String {
    var place = path
    if let section {
      place += ": \(section)"
      if let index { place += "[\(index)]" }
    }
    if let offset { place += " (offset \(String(hexadecimal: offset)))" }
    return "\(place): \(message)"
  }

  /// Writes an object; `first` writes keys before its own.
  func write(to json: inout JSONWriter, first: (inout JSONWriter) -> Void = { _ in }) {
    json.object { json in
      first(&json)
      json.string(key: "code", code)
      json.string(key: "section", section)
      json.number(key: "index", index)
      json.hexadecimal(key: "offset", offset)
      json.string(key: "message", message)
    }
  }
}

/// What a document says of a file before its contents.
struct FileHeading {
  var path: String
  /// The bytes of a path that is not UTF-8.
  var pathBytes: [UInt8]?
  /// Archive members and universal slices that lead to the image, outermost first.
  var container: [String] = []
  /// Nil where the file could not be opened.
  var identity: ImageIdentity?

  /// `libshop.a(cart.o)`
  var name: String { path + container.map { "(\($0))" }.joined() }

  func write(to json: inout JSONWriter) {
    Place(path: path, pathBytes: pathBytes, container: container).writeFile(to: &json)
    json.string(key: "format", identity?.format.rawValue)
    json.number(key: "bits", identity?.bits)
    json.string(key: "endian", identity?.byteOrder.rawValue)
    json.string(key: "machine", identity?.machine)
    json.string(key: "type", identity?.kind.rawValue)
    json.string(key: "id", identity.flatMap { $0.id.isEmpty ? nil : $0.id.hexadecimal })
  }

  /// `libshop.so  ELF x86_64 shared  build-id 8f3c…`
  func line(_ style: Style) -> String {
    var line = style.bold(name.escaped)
    guard let identity else { return line }
    let (format, idName) = identity.format == .elf ? ("ELF", "build-id") : ("Mach-O", "uuid")
    line += "  \(format) \(identity.machine.escaped) \(identity.kind.rawValue)"
    let digits = identity.id.hexadecimal
    if !digits.isEmpty {
      line += style.dim("  \(idName) \(digits.prefix(12))\(digits.count > 12 ? "…" : "")")
    }
    return line
  }
}

extension [UInt8] {
  /// Two digits a byte.
  var hexadecimal: String {
    func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 0x30 : 0x57) }
    var digits: [UInt8] = []
    digits.reserveCapacity(count * 2)
    for byte in self {
      digits.append(digit(byte >> 4))
      digits.append(digit(byte & 0xf))
    }
    return String(decoding: digits, as: UTF8.self)
  }
}
