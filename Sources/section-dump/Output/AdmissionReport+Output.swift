internal import BinaryImage
internal import PluginFiles
internal import Registration

extension AdmissionReport {
  /// Writes the report of `doctor`. `others` are the files that are not plugins. `problems` are the folders and files
  /// that cannot be read. The note is about the host.
  func write(
    others: (lines: [String], json: [JSONValue]), _ problems: [ImageError], note: String?,
    in format: OutputFormat, to sink: ByteSink, _ style: Style
  ) {
    switch format {
    case .json:
      var report = self
      report.problems += problems.map(\.description)
      let last: [(String, JSONValue)] = [
        ("skipped", .integer(Int64(others.json.count))), ("others", .array(others.json)),
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
      for part in [note.map { ["note: \($0)"] } ?? [], others.lines] where !part.isEmpty {
        sink.write("\n" + part.map { style.dim($0) + "\n" }.joined())
      }
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
