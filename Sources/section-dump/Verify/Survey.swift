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
  /// The Swift types of the files for each machine, where they were asked for.
  private(set) var types: [String: DeclaredTypes] = [:]
  private var files = 0

  /// Reads the inputs, and keeps what they declare in their order; `readsTypes` keeps their types too.
  init(_ inputs: Inputs, readsTypes: Bool = false) {
    let progress = Progress()
    defer { progress.clear() }
    var survey = Self()
    let crew = Crew<Survey>(jobs: inputs.jobs) { files, _ in
      var survey = Survey()
      for file in files { survey.read(file, inputs.architecture, readsTypes: readsTypes) }
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
    for (machine, other) in other.types { types[machine, default: DeclaredTypes()].add(other) }
  }

  private mutating func read(
    _ file: Result<Input, ImageError>, _ architecture: String?, readsTypes: Bool
  ) {
    files += 1
    switch file {
    case .success(let input):
      input.forEachImage(architecture: architecture) { found in
        if input.mayOmit(found) { skipped += 1 } else { read(found, of: input) }
        if readsTypes, let image = try? found.image.get() {
          types[image.identity.machine, default: DeclaredTypes()].add(typesOf: image)
        }
      }
    case .failure(let error): note(Problem(error), Place(path: error.image))
    }
  }

  private mutating func read(_ found: FoundImage, of input: Input) {
    let place = Place(path: input.name, container: found.container)
    do throws(ImageError) {
      let image = try found.image.get()
      images += 1
      let scan = try RecordScanner.scan(image)
      for rejection in scan.rejections { note(Problem(rejection), place) }
      let identity = scan.records.isEmpty ? nil : image.identity
      for record in scan.records {
        var place = place
        (place.section, place.index) = (record.origin.section, record.origin.index)
        declared.append(Declared(record: record, place: place, machine: identity?.machine ?? ""))
      }
      if let identity, identity.kind == .object { try checkRetained(image, scan.records, place) }
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

extension Survey {
  /// The entries in groups that could be loaded together, in the order of the files.
  var declaredByMachine: [[Declared]] {
    var machines: [String] = []
    var groups: [String: [Declared]] = [:]
    for entry in declared {
      if groups[entry.machine] == nil { machines.append(entry.machine) }
      groups[entry.machine, default: []].append(entry)
    }
    return machines.map { groups[$0] ?? [] }
  }
}

extension [Survey.Declared] {
  /// The modules, without those that are duplicates.
  var firstModules: Self {
    var names: Set<String> = []
    return filter { $0.record.kind == .module && names.insert($0.record.name).inserted }
  }
}

extension ModuleGraph {
  /// Who starts after whom among modules of different names.
  init(of modules: [Survey.Declared]) {
    let positions = Dictionary(
      modules.enumerated().map { ($1.record.name, $0) }, uniquingKeysWith: { first, _ in first })
    let attributes = modules.map(\.record.attributes)
    self.init(
      requires: attributes.map { $0.requires.compactMap { positions[$0] } },
      follows: attributes.map { $0.after.compactMap { positions[$0] } })
  }
}
