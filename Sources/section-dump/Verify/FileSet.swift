internal import BinaryImage
internal import ObjectFiles
internal import Registration
internal import SwiftContracts
internal import SwiftMetadata

/// The declarations of a set of files, and the problems of each file by itself.
struct FileSet: Reported {
  /// An entry and the file that holds it.
  struct Declared: Codable {
    var record: Record
    var place: Place
    /// The platform that the file is made for.
    var platform: ImageIdentity
    /// The purpose of the file.
    var file: ImageIdentity.Kind
  }

  /// The images to compare, in file order, without copies.
  var images: [FileSetImage] = []
  /// The entries of all images.
  private(set) var declared: [Declared] = []
  var findings: [Finding] = []
  /// The platforms of all loadable images, with or without entries.
  private(set) var linked: Set<ImageIdentity> = []
  /// The number of images whose entries were read, even if they have none.
  var read = 0
  var skipped = 0
  /// The number of names that led to a file that was already read.
  private(set) var repeated = 0
  /// The note on files that were passed over, for a person.
  private(set) var passedOver: String?
  private var files = 0

  /// Reads the inputs and keeps their declarations in order. With `readsTypes`, keeps their types too.
  init(_ inputs: Inputs, readsTypes: Bool = false) {
    let progress = Progress()
    defer { progress.clear() }
    var inputs = inputs
    inputs.isSet = true
    var set = Self()
    (set.repeated, set.passedOver) = inputs.read { [inputs] files, _ in
      var set = FileSet()
      set.files = files.count
      for file in files { set.read(file, inputs.architecture, readsTypes: readsTypes) }
      return ([], set)
    } take: { part in
      guard let part = part.sums else { return }
      set.add(part)
      progress.advance(by: part.files)
    }
    set.leaveOutCopies()
    set.declared = set.images.flatMap(\.declared)
    self = set
  }

  /// Removes all programs except the host, which cannot load other programs. Returns the removed entries.
  mutating func takeOutPrograms(but host: String) -> [Declared] {
    let others = images.filter { $0.kind == .executable && $0.place.path.resolved != host.resolved }
    let programs = Set(others.map(\.place))
    images.removeAll { programs.contains($0.place) }
    declared = images.flatMap(\.declared)
    return others.flatMap(\.declared)
  }

  init() {}

  /// The findings on unreadable files and malformed entries. With any of them the exit status is 2.
  var problems: [Finding] { findings.filter { $0.problem != nil } }

  private mutating func add(_ other: FileSet) {
    images += other.images
    findings += other.findings
    linked.formUnion(other.linked)
    read += other.read
    skipped += other.skipped
    files += other.files
  }

  private mutating func read(_ input: Input, _ architecture: String?, readsTypes: Bool) {
    input.forEachImage(architecture: architecture) { found, place throws(ImageError) in
      let image = try found.get()
      var found = FileSetImage(place: place, identity: image.identity, part: image.part)
      found.isNamed = !input.isFound && place.container.isEmpty
      let size = try read(image, into: &found)
      if readsTypes {
        found.types.add(.types, of: image)
        found.protocols.add(.protocols, of: image)
        found.conformances.add(of: image)
        readContracts(image, into: &found)
        if found.isLoadable { found.readRuntimes(of: image) }
        // If sections cannot be listed, the problems say so.
        findings += (try? Self.lookAlikes(in: image, at: place)) ?? []
      }
      if found.isLoadable { linked.insert(found.platform) }
      if !found.isEmpty { images.append(found) }
      return size
    } failed: { error, place in
      if let place { note(error, place) } else { skipped += 1 }
    }
  }

  /// Reads the entries and returns their size. Throws if the file registers nothing; notes other errors.
  private mutating func read(
    _ image: any FileImage, into found: inout FileSetImage
  ) throws(ImageError) -> Int {
    let place = found.place
    var size = 0
    var problems: [ImageError] = []
    var refused: [Place: String] = [:]
    do throws(ImageError) {
      let scan = try image.scanEntries()
      // Only images in containers count: a single image always has room for its entries.
      if !place.container.isEmpty { size = scan.size(in: place) }
      read += 1
      found.isRead = true
      problems = scan.rejections.map { ImageError($0) }
      for rejection in scan.rejections {
        let place = place.at(section: rejection.origin.section, index: rejection.origin.index)
        refused[place] = "\(rejection.kind) \(rejection.name ?? "")"
      }
      found.records = scan.records
      found.isBare = scan.records.isEmpty && scan.rejections.isEmpty
      for record in scan.records where record.kind == .target {
        let missing = record.missingActions(in: image.addressedMemory)
        guard !missing.isEmpty else { continue }
        findings.append(
          Finding(
            .missingAction, .warning,
            place.at(section: record.origin.section, index: record.origin.index),
            "\(record.title) declares \(missing.shown(most: 3)), and its table has no action of that name",
            remedy: .addAction))
      }
      if found.kind == .object { try checkRetained(image, scan.records, place) }
    } catch {
      if error.code == .noEntries { throw error }
      problems.append(error)
    }
    found.isWhole = image.checkExtents(&problems)
    // One cause is enough: a damaged file may have had entries.
    if !problems.isEmpty { found.isBare = false }
    for problem in problems { note(problem, place, refused) }
    if found.isLoadable, let problem = (image as? ELFFile)?.noteProblem {
      findings.append(
        Finding(
          code: problem.code.rawValue, level: .warning, place: place,
          message:
            "\(problem.message) Stripped of its section headers, the file would have no entries.",
          remedy: problem.remedy))
    }
    return size
  }

  /// Notes the contracts that an image has, and those that it expects of other images.
  private mutating func readContracts(_ image: any FileImage, into found: inout FileSetImage) {
    guard found.isLoadable else { return }
    do throws(ImageError) {
      found.contracts = try ContractLibrary(of: image)
      found.expectations = try ContractExpectations(of: image)
    } catch {
      guard found.isWhole else { return }
      findings.append(
        Finding(
          .contractNotVisible, .remark, found.place,
          "which contracts it was built against is not visible: \(error.message)",
          remedy: error.code == .malformed ? .rebuildMetadata : error.remedy))
    }
  }

  /// Finds sections of entries that a linker may drop because nothing refers to them.
  private mutating func checkRetained(
    _ image: any FileImage, _ records: [Record], _ place: Place
  ) throws(ImageError) {
    for entries in records.groups(by: \.origin.section) {
      let name = entries[0].origin.section
      // One finding is enough for all sections of a name.
      for section in try image.sections(named: name) where section.size > 0 {
        guard try !image.isRetained(section) else { continue }
        findings.append(
          Finding(
            .notRetained, .error, place.at(section: name),
            "a linker that collects garbage drops these entries without a word",
            remedy: .retain(in: image.identity.format)))
        break
      }
    }
  }

  private mutating func note(
    _ problem: ImageError, _ place: Place, _ refused: [Place: String] = [:]
  ) {
    let offset = problem.offset.map { " (offset \($0.rawValue.hexadecimal))" } ?? ""
    let place = place.at(section: problem.section, index: problem.index)
    findings.append(
      Finding(
        code: problem.code.rawValue, level: .error,
        place: place, message: problem.message + offset, remedy: problem.remedyInTool,
        entry: refused[place], problem: problem))
  }

  /// Adds a finding on each copy and removes the copies, so their entries count once.
  private mutating func leaveOutCopies() {
    let originals = images.originals
    for (copy, original) in originals.sorted(by: { $0.key < $1.key }) {
      findings.append(
        Finding(
          .copy, .remark, images[copy].place,
          "it is a copy of \(images[original].place.file), byte by byte; its entries count once",
          remedy: .leaveOutCopy,
          others: [images[original].place]))
    }
    images = images.indices.filter { originals[$0] == nil }.map { images[$0] }
  }
}

extension FileSet {
  /// Returns whether the counts are possible and all locations belong to the file.
  func isSensible(of file: Input) -> Bool {
    let places = images.map(\.place) + findings.flatMap { [$0.place] + $0.others }
    return [files, read, skipped].allSatisfy(Self.possible.contains)
      && places.allSatisfy { $0.path == file.name && $0.pathBytes == file.pathBytes }
      && images.allSatisfy { image in
        guard let part = image.part, part.path != file.path else { return true }
        return !image.place.container.isEmpty && ImageFile.isBeside(part.path, archive: file.path)
      }
  }
}

extension ImageIdentity {
  /// The platform of a process. Images that differ in any part of it are never loaded into one process.
  var platform: ImageIdentity {
    ImageIdentity(
      path: "", format: format, bits: bits, byteOrder: byteOrder, machine: machine, kind: .shared)
  }
}
