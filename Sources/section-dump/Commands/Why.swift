internal import ArgumentParser
internal import BinaryImage
internal import PluginFiles
internal import Registration

/// `section-dump why KIND:NAME PATH…`: finds where an entry is lost between its source and its start.
struct Why: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Says where an entry is lost, and what to do about it.",
    discussion: """
      Follows an entry from its object file to its start, and stops where it is lost: archives, linked files, the \
      folder of plugins, admission by a host, loader, rules of entries, duplicates, binding, requirements. Name all \
      files that may have the entry, or directories of them: objects, archives, libraries, programs. Exit status: 0 no \
      such file loses the entry, 1 it is lost on every way, 2 a file cannot be read or holds a malformed entry.
      """)

  @Argument(
    help: ArgumentHelp(
      "The entry as kind:name; kind is module, service, target, route or plugin.",
      valueName: "entry"),
    completion: .list(RequirementOptions.kinds.map { "\($0):" }),
    transform: RequirementOptions.requirement)
  var entry: RequirementOptions.Requirement

  @Option(
    help: ArgumentHelp("The program that is to load the plugins.", valueName: "executable"),
    completion: .file())
  var host: String?

  @OptionGroup var asked: PolicyOptions

  @OptionGroup var files: InputOptions

  @OptionGroup var output: ReportOptions

  func validate() throws {
    try expect(host != nil || !asked.isGiven, "Each option for admission needs --host EXECUTABLE.")
  }

  func run() throws {
    var inputs = files.values
    inputs.isRecursive = true
    if let host { inputs.paths.append(host) }
    var set = FileSet(inputs, readsTypes: true)
    let host = try host.map(output.admissionHost)
    let programs = host.map { set.takeOutPrograms(but: $0.path) } ?? []
    let folders = files.values.paths.filter { isDirectory(Array($0.utf8)) }
    let trace = set.trace(
      of: entry.kind, entry.name, host.map { ($0, report(on: set, for: $0)) },
      programs: programs, in: host == nil ? [] : folders)
    let problems = host?.problems ?? []
    // If no file has the entry, a file that is no plugin may have been meant to have it.
    let isNowhere = host != nil && trace.ways.first?.loss?.stage == .object
    let others = NotPlugins(isNowhere ? Self.files(of: folders) : [])
    try output.print(
      trace.losses + problems.map(Finding.init) + others.findings(failing: []),
      set.problems.map(\.line) + problems.map(\.description),
      isMissing: !set.problems.isEmpty || !problems.isEmpty, fails: trace.isLost
    ) { format, sink in
      switch format {
      case .table:
        sink.write(([trace.description] + others.lines).joined(separator: "\n") + "\n")
      case .json:
        let document = JSONValue.object([("schema", .integer(1))] + trace.members)
        sink.write(document.text + "\n")
      case .ndjson:
        for step in trace.ways.flatMap(\.steps) { sink.write(step.value.text + "\n") }
      case .csv:
        var csv = FieldWriter(sink, isJSON: false)
        csv.header { EntryTrace.Step.writeFields(of: nil, to: &$0) }
        for step in trace.ways.flatMap(\.steps) {
          csv.row { EntryTrace.Step.writeFields(of: step, to: &$0) }
        }
      }
    }
  }

  /// Returns the files of folders.
  private static func files(of folders: [String]) -> [PluginCatalogue.Candidate] {
    var catalogue = PluginCatalogue()
    catalogue.sources = folders.map { .directory($0) }
    catalogue.refresh()
    return catalogue.candidates
  }

  /// Returns the verdict of the host on the folders of all libraries with entries.
  private func report(on set: FileSet, for host: AdmissionHost) -> AdmissionReport {
    var admission = Admission(to: host, under: asked.policy)
    var catalogue = PluginCatalogue()
    let libraries = set.images.filter { $0.kind == .shared && !$0.records.isEmpty }
    let copies = set.findings.filter { $0.code == Finding.Code.copy.rawValue }
    let places = libraries.map(\.place) + copies.map(\.place)
    for folder in Set(places.map(\.path.folder)).sorted() {
      catalogue.sources.append(.directory(folder))
    }
    catalogue.refresh()
    for candidate in catalogue.candidates { admission.add(candidate) }
    return admission.report()
  }
}

extension EntryTrace.Step {
  /// Writes the CSV fields of a step; nil is for the header.
  fileprivate static func writeFields(of step: Self?, to writer: inout FieldWriter) {
    writer.string(key: "stage", step?.stage.rawValue)
    writer.string(key: "state", step?.state.rawValue)
    writer.string(key: "code", step?.code)
    writer.message(key: "message", step?.message)
    writer.message(key: "remedy", step?.remedy?.description)
  }
}
