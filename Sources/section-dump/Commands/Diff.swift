internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump diff OLD NEW`: what a new build adds, drops and changes.
struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Shows what a new build adds, drops and changes.",
    discussion: """
      Compares what the entries say, not where they are. If none of a build's files can be \
      read, nothing is compared. Exit status: 0 no difference, 1 there is one, 2 an input could not be \
      read or holds a malformed entry.
      """)

  @Argument(
    help: "The build to compare with: a file, or a directory with --recursive.",
    completion: .file())
  var old: String

  @Argument(help: "The new build.", completion: .file())
  var new: String

  @Flag(name: .shortAndLong, help: "Read the files in directories, skipping what is no object.")
  var recursive = false

  @Option(help: ArgumentHelp("Compare the images for this machine alone.", valueName: "machine"))
  var arch = "all"

  @OptionGroup var reading: ReadingOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let both = Inputs(
      paths: [old, new], isRecursive: recursive, architecture: arch == "all" ? nil : arch,
      jobs: reading.jobs(forMany: recursive), isIsolated: reading.isolate)
    let surveys = both.paths.map { path in
      var inputs = both
      inputs.paths = [path]
      return Survey(inputs)
    }
    let errors = ByteSink(descriptor: 2)
    for finding in surveys.flatMap(\.problems) { errors.say(finding.line) }
    let differences = Differences(from: surveys[0], to: surveys[1])
    let presentation = output.values
    let sink = ByteSink(descriptor: 1)
    differences.write(in: presentation.format, to: sink, presentation.style)
    let isWritten = sink.finish(errors)
    if !isWritten || !differences.problems.isEmpty { throw ExitCode(2) }
    if !differences.changes.isEmpty { throw ExitCode(1) }
  }
}

/// The entries that a new build declares and an old one does not, and the other way round.
struct Differences {
  typealias Declared = Survey.Declared

  /// An entry that one of the builds has, or that says something else in the new one.
  struct Change {
    enum Kind: String {
      case removed, added, changed
    }

    var old: Declared?
    var new: Declared?

    var kind: Kind { new == nil ? .removed : old == nil ? .added : .changed }
  }

  /// The entries that were removed, added or changed.
  private(set) var changes: [Change] = []
  /// The files of either build that could not be read, so that more may differ, or less.
  private(set) var problems: [(build: String, finding: Finding)] = []
  /// The builds of which no entry could be read: nothing is compared then.
  private(set) var unread: [String] = []

  init(from old: Survey, to new: Survey) {
    let builds = [("old", old), ("new", new)]
    unread = builds.filter { $0.1.declared.isEmpty && !$0.1.problems.isEmpty }.map(\.0)
    if unread.isEmpty { compare(old.declared, new.declared) }
    problems = builds.flatMap { build, survey in survey.problems.map { (build, $0) } }
  }

  /// Compares what entries say; where they are differs with every build.
  ///
  /// Entries of one kind and name are matched in order, those that are the same first, so that one of
  /// several that goes is not told as a change of all behind it.
  private mutating func compare(_ old: [Declared], _ new: [Declared]) {
    var rest = Dictionary(grouping: old, by: \.record.kindAndName)
    let unmatched = new.filter { entry in
      let name = entry.record.kindAndName
      let same = rest[name]?.firstIndex { entry.record.says(whatSays: $0.record) }
      if let same { rest[name]?.remove(at: same) }
      return same == nil
    }
    let found = unmatched.map { entry in
      let name = entry.record.kindAndName
      let other = rest[name]?.first
      if other != nil { rest[name]?.removeFirst() }
      return Change(old: other, new: entry)
    }
    for entry in old {
      let name = entry.record.kindAndName
      guard let place = rest[name]?.first?.place, place == entry.place else { continue }
      rest[name]?.removeFirst()
      changes.append(Change(old: entry))
    }
    changes += found.filter { $0.kind == .added } + found.filter { $0.kind == .changed }
  }
}

extension Record {
  /// The key of an entry: its kind and its name.
  fileprivate var kindAndName: [String] { [kind.description, name] }

  /// Whether another entry of the same kind and name declares the same.
  fileprivate func says(whatSays other: Record) -> Bool {
    implementation == other.implementation && attributes == other.attributes
      && encoding == other.encoding && (accessor == nil) == (other.accessor == nil)
  }

  /// `implementation EnglishGreeter → FrenchGreeter, priority=1 → –`
  fileprivate func changes(to new: Record) -> String {
    let sides = [
      ("implementation", implementation ?? "–", new.implementation ?? "–"),
      ("attributes", attributes.words ?? "–", new.attributes.words ?? "–"),
      ("encoding", encoding.rawValue, new.encoding.rawValue),
    ]
    let changes = sides.filter { $0.1 != $0.2 }.map { what, old, new in
      "\(what) \(old) → \(new)"
    }
    return changes.isEmpty ? "accessor" : changes.joined(separator: ", ")
  }

  /// ` → WallClock  scope=singleton`
  fileprivate var details: String {
    (implementation.map { " → \($0)" } ?? "") + (attributes.words.map { "  \($0)" } ?? "")
  }
}

extension Differences {
  /// Writes all of it; one object a line has one key, what happened.
  func write(in format: Presentation.Format, to sink: ByteSink, _ style: Style) {
    var json = FieldWriter(sink)
    switch format {
    case .json:
      json.object { json in
        json.number(key: "schema", 1)
        for kind in [Change.Kind.added, .removed, .changed] {
          json.key(text: kind.rawValue)
          json.array(changes.filter { $0.kind == kind }) { $0.write(to: &$1) }
        }
        json.array(key: "problems", problems) { problem, json in
          problem.finding.writeProblem(to: &json) { $0.string(key: "build", problem.build) }
        }
      }
      json.lineBreak()
    case .ndjson:
      for change in changes {
        json.object { json in
          json.key(text: change.kind.rawValue)
          change.write(to: &json)
        }
        json.lineBreak()
      }
      for (build, finding) in problems {
        json.object { json in
          json.nested(key: "problem") { json in
            finding.writeProblem(to: &json) { $0.string(key: "build", build) }
          }
        }
        json.lineBreak()
      }
    case .csv: writeRows(to: sink)
    case .table: writeText(to: sink, style)
    }
  }

  /// A row a record; of a change, the old one and then the new one.
  private func writeRows(to sink: ByteSink) {
    // The columns behind these differ with every build.
    var csv = FieldWriter(sink, .csv)
    func write(_ word: String?, _ entry: Declared?, _ csv: inout FieldWriter) {
      csv.string(key: "difference", word)
      Place.writeFile(of: entry?.place, to: &csv)
      Record.writeSource(of: entry?.record, to: &csv)
    }
    csv.header { write(nil, nil, &$0) }
    for change in changes {
      let (kind, isBoth) = (change.kind.rawValue, change.kind == .changed)
      if let old = change.old { csv.row { write(isBoth ? "\(kind) from" : kind, old, &$0) } }
      if let new = change.new { csv.row { write(isBoth ? "\(kind) to" : kind, new, &$0) } }
    }
  }

  /// `- module log`, `+ module net`, `~ service Greeter: priority=1 → –`, and their places.
  private func writeText(to sink: ByteSink, _ style: Style) {
    for change in changes {
      guard let entry = change.new ?? change.old else { continue }
      let record = entry.record
      let (sign, rest) =
        switch change.kind {
        case .removed: ("-", record.details)
        case .added: ("+", record.details)
        case .changed: ("~", change.old.map { ": \($0.record.changes(to: record))" } ?? "")
        }
      let text = "\(sign) \(record.kind) \(record.name)\(rest)".escaped
      sink.write("\(text)\(style.dim("  \(entry.place.description)".escaped))\n")
    }
    sink.write(style.dim(summary) + "\n")
  }

  private var summary: String {
    guard unread.isEmpty else {
      return
        "not compared: nothing of \(unread.joined(separator: " and ")) was read"
    }
    let counts = [Change.Kind.removed, .added, .changed].map { kind in
      "\(changes.count { $0.kind == kind }) \(kind.rawValue)"
    }
    let sums = changes.isEmpty ? "no difference" : counts.joined(separator: ", ")
    return problems.isEmpty
      ? sums : "\(sums), of what could be read: \(problems.count.counted("problem"))"
  }
}

extension Differences.Change {
  fileprivate func write(to json: inout FieldWriter) {
    func write(_ entry: Differences.Declared?, to json: inout FieldWriter) {
      guard let entry else { return }
      json.object { json in
        Place.writeFile(of: entry.place, to: &json)
        Record.writeFields(of: entry.record, to: &json)
      }
    }
    guard kind == .changed else { return write(old ?? new, to: &json) }
    json.object { json in
      json.nested(key: "old") { write(old, to: &$0) }
      json.nested(key: "new") { write(new, to: &$0) }
    }
  }
}
