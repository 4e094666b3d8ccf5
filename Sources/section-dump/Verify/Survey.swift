internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// Everything that a set of files declares, and what stands in the way of it.
struct Survey {
  /// An entry and the file that holds it.
  struct Declared {
    var record: Record
    var place: Place
    var platform: Platform
    /// What the file is for.
    var file: ImageIdentity.Kind
  }

  /// What a process is made for: images that differ in any of it are never loaded into one.
  struct Platform: Hashable {
    var format: ImageIdentity.Format
    var machine: String
    var bits: Int
    var byteOrder: ImageIdentity.ByteOrder

    init(of identity: ImageIdentity) {
      (format, machine) = (identity.format, identity.machine)
      (bits, byteOrder) = (identity.bits, identity.byteOrder)
    }
  }

  private(set) var declared: [Declared] = []
  private(set) var findings: [Finding] = []
  /// What could not be read, and each malformed entry: findings too, and status 2.
  private(set) var problems: [(problem: Problem, path: String)] = []
  private(set) var images = 0
  private(set) var skipped = 0
  /// The Swift types of the files for each platform, where they were asked for.
  private(set) var types: [Platform: DeclaredTypes] = [:]
  private var files = 0

  /// Reads the inputs, and keeps what they declare in their order; `readsTypes` keeps their types too.
  init(_ inputs: Inputs, readsTypes: Bool = false) {
    let progress = Progress()
    defer { progress.clear() }
    var survey = Self()
    let crew = Crew<Survey>(jobs: inputs.jobs) { files, _ in
      var survey = Survey()
      for file in files { survey.read(file, inputs, readsTypes: readsTypes) }
      return survey
    } take: { part in
      survey.add(part)
      progress.advance(by: part.files)
    }
    inputs.forEach(crew.add)
    crew.finish()
    self = survey
  }

  private init() {}

  private mutating func add(_ other: Survey) {
    declared += other.declared
    findings += other.findings
    problems += other.problems
    images += other.images
    skipped += other.skipped
    files += other.files
    for (platform, other) in other.types { types[platform, default: DeclaredTypes()].add(other) }
  }

  private mutating func read(
    _ file: Result<Input, ImageError>, _ inputs: Inputs, readsTypes: Bool
  ) {
    files += 1
    do throws(ImageError) {
      let input = try file.get()
      if let child = inputs.child {
        add(try Survey(of: input, by: child))
      } else {
        read(input, inputs.architecture, readsTypes: readsTypes)
      }
    } catch {
      note(Problem(error), Place(path: error.image))
    }
  }

  private mutating func read(_ input: Input, _ architecture: String?, readsTypes: Bool) {
    input.forEachImage(architecture: architecture) { found in
      if input.mayOmit(found) { skipped += 1 } else { read(found, of: input) }
      if readsTypes, let image = try? found.image.get() {
        let platform = Platform(of: image.identity)
        types[platform, default: DeclaredTypes()].add(typesOf: image)
      }
    }
  }

  private mutating func read(_ found: FoundImage, of input: Input) {
    let place = Place(path: input.name, container: found.container)
    do throws(ImageError) {
      let image = try found.image.get()
      images += 1
      let scan = try RecordScanner.scan(image)
      for rejection in scan.rejections { note(Problem(rejection), place) }
      if !scan.records.isEmpty {
        let identity = image.identity
        let platform = Platform(of: identity)
        for record in scan.records {
          var place = place
          (place.section, place.index) = (record.origin.section, record.origin.index)
          declared.append(
            Declared(record: record, place: place, platform: platform, file: identity.kind))
        }
        if identity.kind == .object { try checkRetained(image, scan.records, place) }
      }
      try image.checkExtents()
    } catch {
      note(Problem(error), place)
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
      // One finding tells of all sections of a name.
      for section in try image.sections(named: name) where section.size > 0 {
        guard try !image.isRetained(section) else { continue }
        var place = place
        place.section = name
        findings.append(
          Finding(
            .notRetained, .error, place,
            "a linker that collects garbage drops these entries without a word",
            remedy: image.identity.format == .elf
              ? "declare them with BeeHive.h, or add retain to their attributes"
              : "declare them with BeeHive.h, or as no_dead_strip"))
        break
      }
    }
  }

  private mutating func note(_ problem: Problem, _ place: Place) {
    problems.append((problem, place.file))
    var place = place
    (place.section, place.index) = (problem.section, problem.index)
    findings.append(
      Finding(
        code: problem.code, level: .error, place: place, message: problem.message,
        remedy: problem.remedy))
  }
}

// MARK: - Children

extension Survey {
  /// What a child finds in a file.
  private init(of input: Input, by child: IsolatedChild) throws(ImageError) {
    var found: Survey?
    try child.read(input, style: Style(isColored: false)) { piece, bytes in
      var (coder, survey) = (FieldCoder(reading: bytes), Survey())
      let isWhole = (try? survey.code(with: &coder)) != nil && coder.isAtEnd
      found = piece == .sums && isWhole ? survey : nil
    }
    guard let found else {
      throw ImageError(
        .killed, image: input.name, message: "The child that read it has said nothing sensible.")
    }
    self = found
  }

  /// Reads one file for the process that has started this one.
  static func answer(
    _ request: Request, _ inputs: Inputs, readsTypes: Bool = false
  ) -> ExitCode {
    ChildLimits.apply()
    var (survey, coder) = (Survey(), FieldCoder())
    survey.read(request.input, inputs.architecture, readsTypes: readsTypes)
    do throws(FieldCoder.Broken) { try survey.code(with: &coder) } catch { return ExitCode(2) }
    let sink = ByteSink(descriptor: 1)
    sink.write(PackedPieces.head(.sums, size: coder.bytes.count)[...])
    sink.write(coder.bytes[...])
    sink.flush()
    return sink.failure == 0 ? .success : ExitCode(2)
  }

  private mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&declared)
    try coder.code(&findings)
    try coder.code(&problems, (.blank, "")) { coder, entry throws(FieldCoder.Broken) in
      try coder.code(&entry.problem)
      try coder.code(&entry.path)
    }
    try coder.code(&images)
    try coder.code(&skipped)
    var list = types.map { (platform: $0.key, types: $0.value) }
    try coder.code(&list, (.blank, DeclaredTypes())) { coder, entry throws(FieldCoder.Broken) in
      try coder.code(&entry.platform)
      try entry.types.code(with: &coder)
    }
    types = Dictionary(
      list.map { ($0.platform, $0.types) }, uniquingKeysWith: { first, _ in first })
  }
}

extension Survey {
  /// The entries of each platform, in the order of the files.
  var declaredByPlatform: [[Declared]] { declared.groups { $0.platform } }
}
