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
      json.key("code")
      json.string(code)
      json.key("section")
      json.string(section)
      json.key("index")
      json.number(index)
      json.key("offset")
      json.hexadecimal(offset)
      json.key("message")
      json.string(message)
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
    json.key("path")
    json.string(path)
    if let pathBytes {
      json.key("pathBytes")
      json.string(pathBytes.hexadecimal)
    }
    json.key("container")
    json.array(container)
    json.key("format")
    json.string(identity?.format.rawValue)
    json.key("bits")
    json.number(identity?.bits)
    json.key("endian")
    json.string(identity?.byteOrder.rawValue)
    json.key("machine")
    json.string(identity?.machine)
    json.key("type")
    json.string(identity?.kind.rawValue)
    json.key("id")
    json.string(identity.flatMap { $0.id.isEmpty ? nil : $0.id.hexadecimal })
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
