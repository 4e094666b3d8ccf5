internal import BinaryImage
internal import Registration

/// The codes of failures that only the tool has. Other failures have the same codes everywhere.
extension ImageError.Code {
  /// There is more than `--max-bytes` allows.
  static let tooLarge = Self(rawValue: "too-large")
  /// With `--isolate`: the child that read the file was killed, or ended too early.
  static let killed = Self(rawValue: "killed")
}

extension ImageError {
  /// The remedy, also for failures that only the tool has.
  var remedyInTool: Remedy {
    switch code {
    case .tooLarge: .raiseLimit
    case .killed: .leaveOutOfChild
    default: remedy
    }
  }
}

extension FileImage {
  /// Throws for a core file.
  func refuseCore() throws(ImageError) {
    try file.check(
      !isCore, .noEntries,
      "It is a core file, and registers nothing; section-dump live --core shows what the process had."
    )
  }

  /// Adds the error of a file that ends too early, and removes the problems that follow from it. Returns whether the
  /// file has all bytes that its headers claim.
  func checkExtents(_ problems: inout [ImageError]) -> Bool {
    do throws(ImageError) {
      try checkExtents()
    } catch {
      let isCut = error.code == .truncated
      if problems.contains(where: { $0.code == error.code }) { return !isCut }
      problems.removeAll {
        isCut && $0.code.rawValue == Rejection.Reason.unreadableSection.rawValue
          || $0.code == .sectionTableMissing && $0.offset == error.offset
      }
      problems.append(error)
      return !isCut
    }
    return true
  }

  /// Returns the entries that the file would register. Throws if files of its kind register none.
  func scanEntries() throws(ImageError) -> Scan {
    try refuseCore()
    let scan = try Scan(of: self)
    // The debug information of a library lists its entry sections too, but has no bytes of them.
    guard !scan.rejections.isEmpty, identity.kind == .debug else { return scan }
    throw file.error(
      .noEntries,
      "It is split debug information, and registers nothing; its entries are in the file that it was "
        + "split from.")
  }
}

/// Limits what is read of the images of one file by its size. Members of an archive may each point many times at one
/// text. The images in a core file may share all of their bytes.
extension Scan {
  /// The size of entries that every file may have.
  static let leastRoom = 1 << 20

  /// Returns the further size of entries for `size` bytes of a file.
  static func room(in size: UInt64) -> Int { 8 * Int(min(size, 1 << 40)) }

  /// Returns the least size of a report in bytes. A report names the location with each entry.
  func size(in place: Place) -> Int {
    let each = place.container.reduce(64) { $0 + $1.utf8.count }
    return records.reduce(each * (records.count + rejections.count)) { sum, record in
      sum + record.name.utf8.count + (record.implementation?.utf8.count ?? 0)
        + record.attributes.texts.reduce(0) { $0 + $1.utf8.count }
    }
  }
}

extension ImageError {
  /// Returns the error of an image if entries of other images have used up the room of the file.
  static func noRoom(in image: String) -> ImageError {
    ImageError(
      Code(rawValue: Rejection.Reason.limitExceeded.rawValue), image: image,
      message: "The images before it have entries for many times the file; this one is not read.")
  }

  /// Creates the error of a rejected entry.
  init(_ rejection: Rejection) {
    let origin = rejection.origin
    self.init(
      Code(rawValue: rejection.reason.rawValue), image: origin.image, section: origin.section,
      index: origin.index, offset: origin.offset,
      message: (rejection.name.map { "\(rejection.kind) \($0): " } ?? "") + rejection.message)
  }

  /// Returns the line on standard error: path, location, reason.
  func line(path: String) -> String {
    var error = self
    error.image = path
    return error.description
  }

  /// Writes an object; `first` writes keys before its own.
  func write(to json: inout FieldWriter, first: (inout FieldWriter) -> Void = { _ in }) {
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
