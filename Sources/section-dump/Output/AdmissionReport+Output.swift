internal import BinaryImage
internal import PluginFiles
internal import Registration

extension AdmissionReport {
  /// Writes what `doctor` shows; `others` are the files that are no plugins, and `problems` those of folders and
  /// files that cannot be read.
  func write(
    others: [PluginCatalogue.Candidate], _ problems: [ImageError], in format: OutputFormat,
    to sink: ByteSink, _ style: Style
  ) {
    switch format {
    case .json:
      var report = self
      report.problems += problems.map(\.description)
      let last: [(String, JSONValue)] = [
        ("skipped", .integer(Int64(others.count))),
        ("others", .array(others.compactMap(\.refusal))),
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
      if !others.isEmpty {
        let files =
          others.count == 1
          ? "1 further file is no plugin" : "\(others.count) further files are no plugins"
        // First what may have been meant as a plugin.
        let names =
          (others.compactMap(\.unreadTitle)
          + others.filter { $0.unreadTitle == nil }
          .map(\.path.fileName.escaped)).shown(most: 3)
        sink.write("\n" + style.dim("\(files): \(names)") + "\n")
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

extension PluginCatalogue.Candidate {
  /// The name of what cannot be read, as a link that leads nowhere, and why; nil for folders and for what is read.
  var unreadTitle: String? {
    guard case .failure(let error) = found, error.code == .unreadable,
      !isDirectory(Array(path.utf8))
    else { return nil }
    return "\(path.fileName) (\(error.message))".escaped
  }

  /// The reason that the file is no plugin, as a value of JSON; nil for a plugin.
  var refusal: JSONValue? {
    guard case .failure(let error) = found else { return nil }
    return .object([
      ("path", .string(path)), ("code", .string(error.code.rawValue)),
      ("message", .string(error.message)),
    ])
  }
}
