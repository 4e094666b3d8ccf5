internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump diff OLD NEW`: shows what a new build adds, drops and changes.
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

  @Flag(name: .shortAndLong, help: "Read the files in directories; skip those that are no objects.")
  var recursive = false

  @Option(help: ArgumentHelp("Compare only the images for this machine.", valueName: "machine"))
  var arch = "all"

  @OptionGroup var reading: ReadingOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let sets = [old, new].map { path in
      FileSet(
        Inputs(
          paths: [path], isRecursive: recursive, architecture: arch == "all" ? nil : arch,
          jobs: reading.jobs(forMany: recursive), isIsolated: reading.isolate))
    }
    let differences = Differences(from: sets[0], to: sets[1])
    try OutputOptions.print(
      differences.problems.map(\.finding.line), isMissing: !differences.problems.isEmpty,
      fails: !differences.changes.isEmpty
    ) { differences.write(in: output.format, to: $0, output.style) }
  }
}

/// The differences between the entries of an old and a new build.
struct Differences {
  typealias Declared = FileSet.Declared

  /// The entries that were removed, added or changed, in this order; for a change, the old and the new entry.
  private(set) var changes: [(kind: String, entries: [Declared])] = []
  /// The files of either build that could not be read. So more may differ, or less.
  private(set) var problems: [(build: String, finding: Finding)] = []
  /// The builds with problems and no readable entry. If there are any, nothing is compared.
  private(set) var unread: [String] = []

  init(from old: FileSet, to new: FileSet) {
    let builds = [("old", old), ("new", new)]
    unread = builds.filter { $0.1.declared.isEmpty && !$0.1.problems.isEmpty }.map(\.0)
    if unread.isEmpty { compare(old.declared, new.declared) }
    problems = builds.flatMap { build, set in set.problems.map { (build, $0) } }
  }

  /// Compares the contents of entries. Their locations differ with every build.
  ///
  /// Entries of one kind and name are matched in order, equal entries first. So removing one of several entries does
  /// not count as a change of all entries after it.
  private mutating func compare(_ old: [Declared], _ new: [Declared]) {
    var rest = Dictionary(grouping: old.indices) { old[$0].record.title }
    func match(_ entry: Declared, where fits: (Record) -> Bool) -> Declared? {
      let title = entry.record.title
      let found = rest[title]?.firstIndex { fits(old[$0].record) }
      return found.flatMap { rest[title]?.remove(at: $0) }.map { old[$0] }
    }
    let others = new.filter { entry in match(entry, where: entry.record.says) == nil }
    let pairs = others.map { entry in (match(entry) { _ in true }, entry) }
    changes = rest.values.joined().sorted().map { ("removed", [old[$0]]) }
    changes += pairs.filter { $0.0 == nil }.map { ("added", [$0.1]) }
    changes += pairs.compactMap { old, new in old.map { ("changed", [$0, new]) } }
  }
}

extension Record {
  /// Returns whether another entry of the same kind and name declares the same.
  fileprivate func says(_ other: Record) -> Bool {
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
  /// Writes all differences. With one object a line, the key of each says what happened.
  func write(in format: OutputFormat, to sink: ByteSink, _ style: Style) {
    switch format {
    case .json:
      FieldWriter.document(to: sink) { json in
        for kind in ["added", "removed", "changed"] {
          json.key(text: kind)
          json.array(changes.filter { $0.kind == kind }) { write($0.entries, to: &$1) }
        }
        json.array(key: "problems", problems) { write($0, to: &$1) }
      }
    case .ndjson:
      var json = FieldWriter(sink)
      for change in changes {
        json.line { json in
          json.key(text: change.kind)
          write(change.entries, to: &json)
        }
      }
      for problem in problems {
        json.line { json in json.nested(key: "problem") { write(problem, to: &$0) } }
      }
    case .csv: writeRows(to: sink)
    case .table: writeText(to: sink, style)
    }
  }

  private func write(_ problem: (build: String, finding: Finding), to json: inout FieldWriter) {
    problem.finding.writeProblem(to: &json) { $0.string(key: "build", problem.build) }
  }

  private func write(_ entries: [Declared], to json: inout FieldWriter) {
    func write(_ entry: Declared, as key: StaticString? = nil, to json: inout FieldWriter) {
      json.object(key: key) { json in
        Place.writeFile(of: entry.place, to: &json)
        Record.writeFields(of: entry.record, to: &json)
      }
    }
    if entries.count == 1 { return write(entries[0], to: &json) }
    json.object { json in
      for (key, entry) in zip(["old", "new"] as [StaticString], entries) {
        write(entry, as: key, to: &json)
      }
    }
  }

  /// Writes a row for each record; for a change, the old record and then the new one.
  private func writeRows(to sink: ByteSink) {
    // The columns after these differ with every build.
    var csv = FieldWriter(sink, isJSON: false)
    func write(_ word: String?, _ entry: Declared?, _ csv: inout FieldWriter) {
      csv.string(key: "difference", word)
      Place.writeFile(of: entry?.place, to: &csv)
      Record.writeSource(of: entry?.record, to: &csv)
    }
    csv.header { write(nil, nil, &$0) }
    for (kind, entries) in changes {
      let words = entries.count == 1 ? [kind] : ["\(kind) from", "\(kind) to"]
      for (word, entry) in zip(words, entries) { csv.row { write(word, entry, &$0) } }
    }
  }

  /// Writes `- module log`, `+ module net`, `~ service Greeter: priority=1 → –`, with their locations.
  private func writeText(to sink: ByteSink, _ style: Style) {
    for (kind, entries) in changes {
      let (old, new) = (entries[0], entries[entries.count - 1])
      let rest = entries.count == 1 ? new.record.details : ": \(old.record.changes(to: new.record))"
      let sign = ["removed": "-", "added": "+"][kind] ?? "~"
      let text = "\(sign) \(new.record.title)\(rest)".escaped
      sink.write("\(text)\(style.dim("  \(new.place.description)".escaped))\n")
    }
    sink.write(style.dim(summary) + "\n")
  }

  private var summary: String {
    guard unread.isEmpty else {
      return "not compared: nothing of \(unread.joined(separator: " and ")) was read"
    }
    let counts = ["removed", "added", "changed"].map { kind in
      "\(changes.count { $0.kind == kind }) \(kind)"
    }
    let sums = changes.isEmpty ? "no difference" : counts.joined(separator: ", ")
    return problems.isEmpty
      ? sums : "\(sums), of what could be read: \(problems.count.counted("problem"))"
  }
}
