internal import BinaryImage

/// Where in the inputs something is.
struct Place: Hashable, Codable, CustomStringConvertible {
  var path: String
  /// The bytes of a path that is not UTF-8.
  var pathBytes: [UInt8]?
  /// Archive members and universal slices that lead to the image, outermost first.
  var container: [String] = []
  var section: String?
  var index: Int?

  /// `libshop.a(cart.o)`
  var file: String { path + container.map { "(\($0))" }.joined() }

  /// The file, as columns of CSV say it.
  var cells: [String] { [path, container.joined(separator: "/")] }

  /// Writes the keys that say which file it is.
  func writeFile(to json: inout JSONWriter) {
    json.string(key: "path", path)
    if let pathBytes { json.string(key: "pathBytes", pathBytes.hexadecimal) }
    json.array(key: "container", container)
  }

  /// Where in the file something is.
  func at(section: String?, index: Int? = nil) -> Place {
    var place = self
    (place.section, place.index) = (section, index)
    return place
  }

  /// `libshop.a(cart.o) BeehiveMods[0]`
  var description: String {
    guard let section else { return file }
    var text = "\(file) \(section)"
    if let index { text += "[\(index)]" }
    return text
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
