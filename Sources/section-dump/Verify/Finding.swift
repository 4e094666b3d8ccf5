internal import BinaryImage
internal import Registration

/// Something that keeps an entry from being registered as its author meant.
struct Finding: Hashable, Codable {
  enum Level: String, Codable {
    /// An entry will be lost or refused.
    case error
    /// It may be intended, or depends on files that are not in the set.
    case warning
    /// It is correct, and good to know. It never fails a check.
    case remark
  }

  /// The problems that `verify` itself looks for. Reading errors keep the codes that they have everywhere.
  enum Code: String {
    /// Two entries that nothing could tell apart: a Hive rejects the second.
    case duplicateModule = "duplicate-module"
    /// The same for services, which differ by name, given name, priority or language.
    case duplicateService = "duplicate-service"
    /// Two targets of one name.
    case duplicateTarget = "duplicate-target"
    /// Two routes of one shape and priority, whatever their parameters are called.
    case duplicateRoute = "duplicate-route"
    /// An attribute that only entries of another kind have. A Hive ignores it.
    case idleAttribute = "idle-attribute"
    /// An attribute whose key resembles a known key. A Hive ignores it.
    case nearAttribute = "near-attribute"
    /// An action that a target declares and its C table lacks. Calls of it fail.
    case missingAction = "missing-action"
    /// A section of entries in an object, which a linker may drop.
    case notRetained = "not-retained"
    /// A required module or needed service that no file of the set declares, or a module of an unfit version.
    case unmetRequirement = "unmet-requirement"
    /// Modules that wait for each other, or services that need each other. None of them can start or be made.
    case cycle
    /// A scoped service that a singleton, a weak service or a module needs. No lookup makes it for them.
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
    /// A Swift type in several files. It is an error if an entry registers the type.
    case duplicateType = "duplicate-type"
    /// A protocol of services that several files declare. Lookups across these files fail.
    case duplicateProtocol = "duplicate-protocol"
    /// A Swift type that was built against another contract than a library of the set has.
    case contractDrift = "contract-drift"
    /// Conformances whose contracts cannot be compared with those of a library, because the files do not show them.
    case contractNotVisible = "contract-not-visible"
    /// A member of an archive whose entries are in no linked file of the set.
    case neverLinked = "never-linked"
    /// An executable with its own Swift runtime, and a library that needs the shared runtime.
    case staticSwiftRuntime = "static-swift-runtime"
    /// A library without entries though it should have some, or a set without entries.
    case withoutEntries = "without-entries"
    /// A section whose name resembles that of an entry section. No reader knows it.
    case lookAlikeSection = "look-alike-section"
    /// A file or member that equals another one byte by byte. Its entries count once.
    case copy
  }

  /// Stable; listed in Docs/problems.md.
  var code: String
  var level: Level
  var place: Place
  /// The description of the problem, without the remedy.
  var message: String
  var remedy: Remedy
  /// Further locations that the finding concerns.
  var others: [Place] = []
  /// The module or service that no file declares.
  var missing: String?
  /// The kind and name of a rejected entry. The name is empty if it cannot be read.
  var entry: String?
  /// The error if something could not be read or an entry was rejected.
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
  /// The line on standard error about `problem`.
  var line: String { problem?.line(path: place.file) ?? "" }

  /// Writes `problem` as an object; `first` writes keys before all others.
  func writeProblem(to json: inout FieldWriter, first: (inout FieldWriter) -> Void = { _ in }) {
    problem?.write(to: &json) { json in
      first(&json)
      Place.writeFile(of: place, to: &json)
    }
  }

  /// Writes the JSON and CSV fields of a finding; nil is for a header.
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
  /// Appends a finding. Of each code and file, only the first findings are listed.
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
