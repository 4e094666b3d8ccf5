internal import BinaryImage
internal import Registration

/// Something that keeps an entry from being registered as its author meant.
struct Finding: Hashable, Codable {
  enum Level: String, Codable {
    /// An entry will be lost or refused.
    case error
    /// It may be meant, or depends on what the set of files leaves out.
    case warning
    /// It is as it should be, and good to know; it never fails.
    case remark
  }

  /// What `verify` itself looks for; what cannot be read keeps the code that it has everywhere.
  enum Code: String {
    /// Two entries that nothing could tell apart: a Hive rejects the second.
    case duplicateModule = "duplicate-module"
    /// As for modules; services differ by name, given name, priority or language.
    case duplicateService = "duplicate-service"
    /// Two targets of one name.
    case duplicateTarget = "duplicate-target"
    /// Two routes of one shape and priority, whatever their parameters are called.
    case duplicateRoute = "duplicate-route"
    /// An attribute of an entry that only entries of another kind have: a Hive passes over it.
    case idleAttribute = "idle-attribute"
    /// An attribute whose key is nearly one that has a meaning: a Hive passes over it.
    case nearAttribute = "near-attribute"
    /// An action that a target declares, and that its table in C lacks: calls of it fail.
    case missingAction = "missing-action"
    /// A section of entries in an object, which a linker may drop.
    case notRetained = "not-retained"
    /// A module requires one that no file of the set declares, or a service or module needs such a service.
    case unmetRequirement = "unmet-requirement"
    /// Modules that wait for each other, or services that need each other: none of them starts, or is made.
    case cycle
    /// A singleton, a weak service or a module needs a scoped service: no lookup makes that for it.
    case scopedNeed = "scoped-need"
    /// No file of the set has the Swift type that an entry names.
    case missingImplementation = "missing-implementation"
    /// No file of the set has the Swift protocol that the entry of a service names.
    case missingProtocol = "missing-protocol"
    /// The Swift type that an entry names does not conform to the service's protocol, or to `Module`.
    case doesNotConform = "does-not-conform"
    /// The Swift type that the entry of a service names does not conform to `Injectable`.
    case noInitializer = "no-initializer"
    /// No file declares a module that `--require` names.
    case missingModule = "missing-module"
    /// No file declares a service that `--require` names.
    case missingService = "missing-service"
    /// No file declares a target that `--require` names.
    case missingTarget = "missing-target"
    /// No file declares a route that `--require` names.
    case missingRoute = "missing-route"
    /// No file states the identity of a plugin that `--require` names.
    case missingPlugin = "missing-plugin"
    /// A Swift type in several files; an error where an entry registers it.
    case duplicateType = "duplicate-type"
    /// A protocol that services are registered under, in several files: lookups across them fail.
    case duplicateProtocol = "duplicate-protocol"
    /// A Swift type that was built to conform to another contract than a library of the set has.
    case contractDrift = "contract-drift"
    /// Conformances whose contract the files do not show to be that of a library of the set.
    case contractNotVisible = "contract-not-visible"
    /// A member of an archive whose entries are not in the executable that is given beside it.
    case neverLinked = "never-linked"
    /// An executable that holds Swift's runtime, beside a library that needs the shared one.
    case staticSwiftRuntime = "static-swift-runtime"
    /// A library has no entries, though it was linked for some.
    case withoutEntries = "without-entries"
    /// A section whose name is nearly that of one that holds entries: no reader knows it.
    case lookAlikeSection = "look-alike-section"
    /// A file or member that is the same as another, byte by byte; its entries count once.
    case copy
  }

  /// Stable; listed in Docs/problems.md.
  var code: String
  var level: Level
  var place: Place
  /// What was found.
  var message: String
  var remedy: Remedy
  /// Further entries that it concerns.
  var others: [Place] = []
  /// The module or service that no file declares.
  var missing: String?
  /// The kind and name of an entry that was refused; the name is empty where it cannot be read.
  var entry: String?
  /// What could not be read, or was refused, where that is what was found.
  var problem: ImageError?
}

extension Finding {
  init(
    _ code: Code, _ level: Level, _ place: Place, _ message: String, remedy: Remedy,
    others: [Place] = [], missing: String? = nil
  ) {
    self.init(
      code: code.rawValue, level: level, place: place, message: message, remedy: remedy,
      others: others, missing: missing)
  }

  var isCopy: Bool { code == Code.copy.rawValue }
  /// The line on standard error about what could not be read.
  var line: String { problem?.line(path: place.file) ?? "" }

  /// Writes what could not be read as an object; `first` writes keys before all others.
  func writeProblem(to json: inout FieldWriter, first: (inout FieldWriter) -> Void = { _ in }) {
    problem?.write(to: &json) { json in
      first(&json)
      Place.writeFile(of: place, to: &json)
    }
  }

  /// Writes what JSON and CSV say of a finding; without one, the same fields.
  static func writeFields(of finding: Self?, to writer: inout FieldWriter) {
    if !writer.isJSON { writer.string(key: "level", finding?.level.rawValue) }
    writer.string(key: "code", finding?.code)
    if writer.isJSON { writer.string(key: "level", finding?.level.rawValue) }
    Place.writeFile(of: finding?.place, to: &writer)
    writer.string(key: "section", finding?.place.section)
    writer.number(key: "index", finding?.place.index)
    writer.message(key: "message", finding?.message)
    writer.message(key: "remedy", finding?.remedy.description)
  }
}

extension [Finding] {
  /// Appends a finding; of a code and a file only the first ones.
  mutating func add(_ finding: Finding, _ counts: inout [Place: Int]) {
    let key = finding.place.at(section: finding.code)
    let count = counts[key, default: 0]
    counts[key] = count + 1
    if count < Scan.mostRefused { return append(finding) }
    guard count == Scan.mostRefused else { return }
    append(
      Finding(
        code: finding.code, level: finding.level, place: finding.place.at(section: nil),
        message: "there are more findings of this kind; the first \(count) are listed",
        remedy: .fixFirst))
  }
}
