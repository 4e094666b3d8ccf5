internal import BinaryImage
internal import PluginFiles
internal import Registration

extension AdmissionReport {
  /// Writes what `doctor` shows: also the files that are no plugins, the problems of folders and files that cannot be
  /// read, and a note on the host.
  func write(
    _ others: NotPlugins, _ problems: [ImageError], note: String?, in format: OutputFormat,
    to sink: ByteSink, _ style: Style
  ) {
    switch format {
    case .json:
      var report = self
      report.problems += problems.map(\.description)
      let last: [(String, JSONValue)] = [
        ("skipped", .integer(Int64(others.files.count))), ("others", others.json),
        ("note", note.map(JSONValue.string) ?? .null),
      ]
      let document = JSONValue.object([("schema", .integer(1))] + report.members + last)
      sink.write(document.text + "\n")
    case .ndjson:
      for plugin in plugins { sink.write(plugin.value.text + "\n") }
    case .csv:
      var csv = FieldWriter(sink, isJSON: false)
      csv.header { Self.write(nil, nil, to: &$0) }
      for plugin in plugins {
        for refusal in plugin.refusals.isEmpty ? [nil] : plugin.refusals.map(Optional.some) {
          csv.row { Self.write(plugin, refusal, to: &$0) }
        }
      }
    case .table:
      sink.write(description + "\n")
      if let note { sink.write("\n" + style.dim("note: \(note)") + "\n") }
      sink.write(others.text(style))
    }
  }

  private static func write(
    _ plugin: AdmissionReport.Plugin?, _ refusal: PluginRefusal?, to csv: inout FieldWriter
  ) {
    csv.string(key: "path", plugin?.path)
    csv.boolean(key: "loads", plugin?.loads)
    csv.number(key: "order", plugin?.order)
    csv.string(key: "code", refusal?.code)
    csv.string(key: "cause", refusal?.cause)
    csv.message(key: "message", refusal?.message)
    csv.message(key: "remedy", refusal?.remedy)
    csv.string(key: "id", plugin?.identity?.id)
    csv.string(key: "version", plugin?.identity?.version)
  }
}

/// The files of folders that are no plugins, each with the reason.
struct NotPlugins {
  /// A file; what was found in it, if that says more than its kind.
  private(set) var files: [(path: String, error: ImageError, finding: Finding?)]

  /// Looks once more into libraries that declare nothing: somebody may have meant them to.
  init(_ candidates: [PluginCatalogue.Candidate]) {
    let failures = candidates.compactMap { candidate -> (path: String, error: ImageError)? in
      guard case .failure(var error) = candidate.found else { return nil }
      if isDirectory(Array(candidate.path.utf8)) {
        error.message = "It is a directory, and not looked into; name it too if it has plugins."
      }
      return (candidate.path, error)
    }
    let silent = failures.filter { $0.error.code == .noEntries }.map(\.path)
    let survey = silent.isEmpty ? Survey() : Survey(Inputs(paths: silent), readsTypes: true)
    let causes = [Finding.Code.lookAlikeSection, .withoutEntries].map(\.rawValue)
    let findings = (survey.findings + survey.withoutEntries(areRequired: false))
      .filter { causes.contains($0.code) }
    let byPath = Dictionary(findings.map { (Array($0.place.path.utf8), $0) }) { first, _ in first }
    files = failures.map { ($0.path, $0.error, byPath[Array($0.path.utf8)]) }
  }

  /// As values of JSON.
  var json: JSONValue {
    .array(
      files.map { path, error, finding in
        .object([
          ("path", .string(path)), ("code", .string(finding?.code ?? error.code.rawValue)),
          ("message", .string(finding?.message ?? error.message)),
          ("remedy", .string(finding?.remedy ?? error.remedy)),
        ])
      })
  }

  /// Aligned lines, first what may have been meant as a plugin.
  func text(_ style: Style) -> String {
    guard !files.isEmpty else { return "" }
    let ranks = files.map { _, error, finding in
      finding != nil ? 0 : error.code == .unreadable ? 1 : error.code == .noEntries ? 2 : 3
    }
    let order = files.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    let rows = order.prefix(Self.mostShown).map { position in
      let (path, error, finding) = files[position]
      let reason = finding.map { "\($0.message.capitalizedFirst); \($0.remedy)." }
      return ["  \(path.fileName.escaped)", (reason ?? error.message).escaped]
    }
    let more = files.count - rows.count
    let lines =
      [files.count == 1 ? "1 file is no plugin:" : "\(files.count) files are no plugins:"]
      + rows.aligned() + (more > 0 ? ["  and \(more) more, which --format json lists"] : [])
    return "\n" + lines.map { style.dim($0) + "\n" }.joined()
  }

  /// The most files that people read of.
  private static let mostShown = 12
}
