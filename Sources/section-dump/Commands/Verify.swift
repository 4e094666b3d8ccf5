internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump verify PATH…`: what keeps the entries of a set of files from being registered.
struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Finds what would keep entries from being registered; for CI.",
    discussion: """
      Reads all files as one set, as a process would load them: duplicates, requirements that \
      nobody meets, circles, Swift types that no file has, entries that a linker may drop, \
      malformed ones. Each finding has a code, a place and a remedy. Exit status: 0 no error was found, \
      1 an error was, with --strict a warning too, 2 an input could not be read or holds a \
      malformed entry.
      """)

  @OptionGroup var inputs: InputOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var isolation: IsolationOptions

  @Option(
    name: .customLong("require"),
    help: ArgumentHelp(
      "Find it an error unless one of the files has this entry; may be repeated.",
      valueName: "module:name|service:name"))
  var requirements: [Requirement] = []

  @Flag(help: "Let warnings fail too.")
  var strict = false

  func run() throws {
    let files = isolation.apply(to: inputs.values)
    if files.child != nil,
      let status = ChildServer.serve({ Survey.answer($0, files, readsTypes: true) })
    {
      return try status.end()
    }
    let survey = Survey(files, readsTypes: true)
    var findings = survey.findings + Contradictions.findings(in: survey)
    findings += Implementations.findings(in: survey)
    for required in requirements where !survey.has(required) {
      findings.append(
        Finding(
          required.kind == .module ? .missingModule : .missingService, .error,
          Place(path: "(all files)"),
          "no file has the required \(required.kind) \(required.name)",
          remedy: "add the file that has it, or correct the name"))
    }
    let presentation = output.values
    let sink = ByteSink(descriptor: 1)
    write(findings, of: survey, in: presentation, to: sink)
    let errors = ByteSink(descriptor: 2)
    for (problem, path) in survey.problems { errors.say(problem.line(path: path)) }
    let isWritten = sink.finish(errors)
    if !isWritten || !survey.problems.isEmpty { throw ExitCode(2) }
    let fails = findings.contains { strict || $0.level == .error }
    if fails { throw ExitCode(1) }
  }

  private func write(
    _ findings: [Finding], of survey: Survey, in presentation: Presentation, to sink: ByteSink
  ) {
    var json = JSONWriter(sink)
    switch presentation.format {
    case .json:
      json.object { json in
        json.key("schema")
        json.number(1)
        json.key("findings")
        json.array { json in
          for finding in findings {
            json.lineBreak()
            finding.write(to: &json)
          }
        }
      }
      json.lineBreak()
    case .ndjson:
      for finding in findings {
        finding.write(to: &json)
        json.lineBreak()
      }
    case .csv:
      CSV.write(Finding.columns, to: sink)
      for finding in findings { CSV.write(finding.row, to: sink) }
    case .table:
      writeText(findings, of: survey, presentation.style, to: sink)
    }
  }

  /// One paragraph a finding, the place first, as compilers say it.
  private func writeText(
    _ findings: [Finding], of survey: Survey, _ style: Style, to sink: ByteSink
  ) {
    for finding in findings {
      let place = style.bold(finding.place.description.escaped)
      sink.write("\(place): \(finding.level.rawValue): \(finding.message.escaped)")
      sink.write(style.dim(" [\(finding.code)]") + "\n    \(finding.remedy.escaped)\n")
    }
    let errors = findings.count { $0.level == .error }
    let warnings = findings.count - errors
    var parts = ["\(survey.images) files", "\(survey.declared.count) entries"]
    if survey.skipped > 0 { parts.append("\(survey.skipped) skipped, no object files") }
    let verdict =
      findings.isEmpty ? "nothing found" : "\(errors) errors, \(warnings) warnings"
    sink.write(style.dim(parts.joined(separator: ", ") + ": " + verdict) + "\n")
  }
}

extension Int {
  /// `1 file`, `2 files`
  func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? "\(one)s")"
  }
}

extension Survey {
  /// Whether one of the files has an entry.
  func has(_ required: Requirement) -> Bool {
    declared.contains { $0.record.kind == required.kind && $0.record.name == required.name }
  }
}
