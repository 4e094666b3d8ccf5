internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump verify PATH…`: finds what keeps the entries of a set of files from being registered.
struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Finds what would keep entries from being registered; for CI.",
    discussion: """
      Reads all files as one set, as a process would load them. Finds duplicates, requirements that no file meets, \
      cycles, Swift types that no file has, that several files have, or that were built against other contracts, \
      entries that a linker drops, and malformed entries. A file counts once, even if several names lead to it. \
      Prints each finding, and each input that could not be read, with a code, a location and a remedy. Exit \
      status: 0 no error was found, 1 an error, or with --strict a warning, was found, 2 an input could not be read or \
      holds a malformed entry.
      """)

  @OptionGroup var files: InputOptions

  @OptionGroup var output: ReportOptions

  @OptionGroup var required: RequirementOptions

  @Flag(help: "Fail if a library that you name has no entries, or if no file has an entry.")
  var requireEntries = false

  @Flag(help: "Fail on warnings too.")
  var strict = false

  func run() throws {
    let set = FileSet(files.values, readsTypes: true)
    var findings = set.findings(with: set.contradictions)
    findings += set.withoutEntries(areRequired: requireEntries)
    findings += set.missing(required.requirements)
    let fails = findings.contains { $0.level == .error || strict && $0.level == .warning }
    try output.print(findings, isMissing: !set.problems.isEmpty, fails: fails) { format, sink in
      switch format {
      case .table: writeText(findings, of: set, to: sink)
      case .json:
        FieldWriter.document(to: sink) { json in
          json.list(key: "findings", findings) { Finding.writeFields(of: $1, to: &$0) }
        }
      case .ndjson:
        var json = FieldWriter(sink)
        for finding in findings { json.line { Finding.writeFields(of: finding, to: &$0) } }
      case .csv:
        var csv = FieldWriter(sink, isJSON: false)
        csv.header { Finding.writeFields(of: nil, to: &$0) }
        for finding in findings { csv.row { Finding.writeFields(of: finding, to: &$0) } }
      }
    }
  }

  /// Writes a paragraph for each finding, with the location first, like compilers.
  private func writeText(_ findings: [Finding], of set: FileSet, to sink: ByteSink) {
    let style = output.style
    for finding in findings {
      style.bold(sink) { sink.write(finding.place.description, as: .message) }
      sink.write(": \(finding.level.rawValue): \(finding.message.escaped)")
      sink.write(style.dim(" [\(finding.code)]") + "\n    \(finding.remedy.description.escaped)\n")
    }
    sink.write(style.dim(Self.summary(of: set, findings)) + "\n")
  }

  /// `2 files, 1 further name, 4 entries: 1 error, 2 warnings`
  private static func summary(of set: FileSet, _ findings: [Finding]) -> String {
    var parts = [set.read.counted("file"), set.declared.count.counted("entry", "entries")]
    let further = set.repeated
    if further > 0 { parts.insert(further.counted("further name"), at: 1) }
    if set.skipped > 0 { parts.append("\(set.skipped) skipped (no object files)") }
    if let note = set.passedOver { parts.append(note) }
    var verdict = [Finding.Level.error, .warning].map { level in
      findings.count { $0.level == level }.counted(level.rawValue)
    }
    let remarks = findings.count { $0.level == .remark }
    if remarks > 0 { verdict.append(remarks.counted("remark")) }
    return parts.joined(separator: ", ") + ": "
      + (findings.isEmpty ? "nothing found" : verdict.joined(separator: ", "))
  }
}
