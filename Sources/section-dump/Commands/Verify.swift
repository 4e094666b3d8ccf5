internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump verify PATH…`: finds what keeps the entries of a set of files from being registered.
struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Finds what would keep entries from being registered; for CI.",
    discussion: """
      Reads all files as one set, as a process would load them: duplicates, requirements that \
      no file meets, cycles, Swift types that no file has, that several have, or that were built \
      against other contracts, entries that a linker drops, malformed ones. A file counts once, whatever names lead to it. Each finding \
      has a code, a location and a remedy, on standard output; so has what could not be \
      read. Exit status: 0 no error was found, 1 an error was, with --strict a warning too, 2 an \
      input could not be read or holds a malformed entry.
      """)

  @OptionGroup var files: InputOptions

  @OptionGroup var output: ReportOptions

  @OptionGroup var required: RequirementOptions

  @Flag(help: "Fail where a library that is named has no entries, or none of the files has any.")
  var requireEntries = false

  @Flag(help: "Fail on warnings too.")
  var strict = false

  func run() throws {
    let survey = Survey(files.values, readsTypes: true)
    var findings = survey.findings(with: survey.contradictions)
    findings += survey.withoutEntries(areRequired: requireEntries)
    findings += survey.missing(required.requirements)
    let fails = findings.contains { $0.level == .error || strict && $0.level == .warning }
    try output.print(findings, isMissing: !survey.problems.isEmpty, fails: fails) { format, sink in
      switch format {
      case .table: writeText(findings, of: survey, to: sink)
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
  private func writeText(_ findings: [Finding], of survey: Survey, to sink: ByteSink) {
    let style = output.style
    for finding in findings {
      style.bold(sink) { sink.write(finding.place.description, as: .message) }
      sink.write(": \(finding.level.rawValue): \(finding.message.escaped)")
      sink.write(style.dim(" [\(finding.code)]") + "\n    \(finding.remedy.description.escaped)\n")
    }
    sink.write(style.dim(Self.summary(of: survey, findings)) + "\n")
  }

  /// `2 files, 1 further name, 4 entries: 1 error, 2 warnings`
  private static func summary(of survey: Survey, _ findings: [Finding]) -> String {
    var parts = [survey.read.counted("file"), survey.declared.count.counted("entry", "entries")]
    let further = survey.repeated
    if further > 0 { parts.insert(further.counted("further name"), at: 1) }
    if survey.skipped > 0 { parts.append("\(survey.skipped) skipped (no object files)") }
    if let note = survey.passedOver { parts.append(note) }
    var verdict = [Finding.Level.error, .warning].map { level in
      findings.count { $0.level == level }.counted(level.rawValue)
    }
    let remarks = findings.count { $0.level == .remark }
    if remarks > 0 { verdict.append(remarks.counted("remark")) }
    return parts.joined(separator: ", ") + ": "
      + (findings.isEmpty ? "nothing found" : verdict.joined(separator: ", "))
  }
}
