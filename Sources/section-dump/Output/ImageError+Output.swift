internal import BinaryImage
internal import Registration

extension ImageError {
  /// An entry that was refused, as what could not be read of its file.
  init(_ rejection: Rejection) {
    let origin = rejection.origin
    self.init(
      Code(rawValue: rejection.reason.rawValue), image: origin.image, section: origin.section,
      index: origin.index, offset: origin.offset,
      message: (rejection.name.map { "\(rejection.kind) \($0): " } ?? "") + rejection.message)
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
