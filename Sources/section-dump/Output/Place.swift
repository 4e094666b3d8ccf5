internal import BinaryImage

/// A location in the inputs.
struct Place: Hashable, Codable, CustomStringConvertible {
  var path: String
  /// The bytes of a path that is not UTF-8.
  var pathBytes: [UInt8]?
  /// Archive members and universal slices that lead to the image, outermost first.
  var container: [String] = []
  var section: String?
  var index: Int?

  /// All files of a set together.
  static let allFiles = Place(path: "(all files)")
  var isFile: Bool { self != .allFiles }

  /// `libshop.a(cart.o)`
  var file: String {
    container.isEmpty ? path : path + container.map { "(\($0))" }.joined()
  }

  /// Writes the fields that name the file; nil is for a header.
  static func writeFile(of place: Place?, to writer: inout FieldWriter) {
    let bytes = place.map { $0.pathBytes ?? Array($0.path.utf8) }
    writer.string(key: "path", bytes, bytesKey: "pathBytes")
    writer.list(key: "container", place?.container ?? [], separator: "/")
  }

  /// Returns the location of a section or an entry in the same file.
  func at(section: String?, index: Int? = nil) -> Place {
    var place = self
    (place.section, place.index) = (section, index)
    return place
  }

  /// `libshop.a(cart.o) BeehiveMods[0]`
  var description: String {
    guard let section else { return file }
    return "\(file) \(section)" + (index.map { "[\($0)]" } ?? "")
  }
}

extension Place {
  /// Writes the fields of an image before its contents. `identity` is nil if the image could not be opened.
  func write(_ identity: ImageIdentity?, to json: inout FieldWriter) {
    Self.writeFile(of: self, to: &json)
    json.string(key: "format", identity?.format.rawValue)
    json.number(key: "bits", identity?.bits)
    json.string(key: "endian", identity?.byteOrder.rawValue)
    json.string(key: "machine", identity?.machine)
    json.string(key: "type", identity?.kind.rawValue)
    json.bytes(key: "id", identity.flatMap { $0.id.isEmpty ? nil : $0.id })
  }

  /// Writes `libshop.so  ELF x86_64 shared  build-id 8f3c…`.
  func writeHeading(of identity: ImageIdentity?, to sink: ByteSink, _ style: Style) {
    style.bold(sink) { sink.write(file, as: .message) }
    guard let identity else { return }
    let isELF = identity.format == .elf
    sink.write(word: isELF ? "  ELF " : "  Mach-O ")
    sink.write(identity.machine, as: .message)
    sink.write(UInt8(ascii: " "))
    sink.write(identity.kind.rawValue)
    guard !identity.id.isEmpty else { return }
    style.dim(sink) {
      sink.write(word: isELF ? "  build-id " : "  uuid ")
      let first = identity.id.prefix(6)
      sink.write(digitsOf: first.span)
      if identity.id.count > 6 { sink.write(word: "…") }
    }
  }
}
