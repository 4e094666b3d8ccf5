internal import BinaryImage
internal import Registration

extension ImageError {
  /// An entry that was refused, as what could not be read of its file.
  init(_ rejection: Rejection) {
    let origin = rejection.origin
    self.init(
      Code(rawValue: rejection.reason.rawValue), image: origin.image, section: origin.section,
      index: origin.index, offset: origin.offset, message: rejection.message)
  }

  /// The line on standard error: path, place, reason.
  func line(path: String) -> String {
    var error = self
    error.image = path
    return error.description
  }

  /// Writes an object; `first` writes keys before its own.
  func write(to json: inout JSONWriter, first: (inout JSONWriter) -> Void = { _ in }) {
    json.object { json in
      first(&json)
      json.string(key: "code", code.rawValue)
      json.string(key: "section", section)
      json.number(key: "index", index)
      json.hexadecimal(key: "offset", offset?.rawValue)
      json.string(key: "message", message)
    }
  }
}

extension Place {
  /// Writes what a document says of an image before its contents; `identity` is nil where it could not
  /// be opened.
  func write(_ identity: ImageIdentity?, to json: inout JSONWriter) {
    writeFile(to: &json)
    json.string(key: "format", identity?.format.rawValue)
    json.number(key: "bits", identity?.bits)
    json.string(key: "endian", identity?.byteOrder.rawValue)
    json.string(key: "machine", identity?.machine)
    json.string(key: "type", identity?.kind.rawValue)
    json.string(key: "id", identity.flatMap { $0.id.isEmpty ? nil : $0.id.hexadecimal })
  }

  /// `libshop.so  ELF x86_64 shared  build-id 8f3c…`
  func heading(_ identity: ImageIdentity?, _ style: Style) -> String {
    var line = style.bold(file.escaped)
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
