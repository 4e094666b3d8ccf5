internal import BinaryImage
internal import Registration

/// Everything that a set of files declares, and what stands in the way of it.
struct Survey {
  /// An entry and the file that holds it.
  struct Declared {
    var record: Record
    var place: Place
    /// Links to the entries that could be loaded together: a universal file's slices never are.
    var machine: String
  }

  private(set) var declared: [Declared] = []
  private(set) var findings: [Finding] = []
  /// What could not be read, and each malformed entry: findings too, and status 2.
  private(set) var problems: [(problem: Problem, path: String)] = []
  private(set) var images = 0
  private(set) var skipped = 0

  /// Reads the inputs one after another.
  init(_ inputs: Inputs) {
    inputs.forEach { input in
      switch input {
      case .success(let input):
        input.forEachImage(architecture: inputs.architecture) { found in
          read(found, of: input)
        }
      case .failure(let error): note(error, Place(path: error.image))
      }
    }
  }

  private mutating func read(_ found: FoundImage, of input: Input) {
    let place = Place(path: input.name, container: found.container)
    do throws(ImageError) {
      let image = try found.image.get()
      images += 1
      let scan = try RecordScanner.scan(image)
      for rejection in scan.rejections { note(rejection, place) }
      let identity = scan.records.isEmpty ? nil : image.identity
      for record in scan.records {
        var place = place
        (place.section, place.index) = (record.origin.section, record.origin.index)
        declared.append(Declared(record: record, place: place, machine: identity?.machine ?? ""))
      }
      if let identity, identity.kind == .object { try checkRetained(image, scan.records, place) }
      try image.checkExtents()
    } catch {
      // Archives hold more than objects; so do directories.
      if input.isFound || !found.container.isEmpty,
        error.code == .notAnObject || error.code == .noSuchArchitecture
      {
        skipped += 1
        return
      }
      note(error, place)
    }
  }

  /// Sections of entries that a linker may drop, because nothing refers to them.
  private mutating func checkRetained(
    _ image: any FileImage, _ records: [Record], _ place: Place
  ) throws(ImageError) {
    var names: [String] = []
    for record in records where names.last != record.origin.section {
      names.append(record.origin.section)
    }
    for name in names {
      for section in try image.sections(named: name) where section.size > 0 && !section.isRetained {
        var place = place
        place.section = name
        findings.append(
          Finding(
            .notRetained, .error, place,
            "a linker that collects garbage drops these entries without a word",
            remedy: image.identity.format == .elf
              ? "declare them with BeeHive.h, or add retain to their attributes"
              : "declare them with BeeHive.h, or as no_dead_strip"))
      }
    }
  }

  private mutating func note(_ error: ImageError, _ place: Place) {
    problems.append((Problem(error), place.file))
    var place = place
    (place.section, place.index) = (error.section, error.index)
    findings.append(
      Finding(
        code: error.code.rawValue, level: .error, place: place, message: error.message,
        remedy: "see \(error.code.rawValue) in Docs/problems.md"))
  }

  private mutating func note(_ rejection: Rejection, _ place: Place) {
    problems.append((Problem(rejection), place.file))
    var place = place
    (place.section, place.index) = (rejection.origin.section, rejection.origin.index)
    findings.append(
      Finding(
        code: rejection.reason.rawValue, level: .error, place: place, message: rejection.message,
        remedy: "see \(rejection.reason.rawValue) in Docs/problems.md"))
  }
}
