internal import BinaryImage
internal import PluginFiles
internal import Registration

/// The report of `doctor` in each format.
struct DoctorText {
  let report: AdmissionReport
  /// The files that are no plugins.
  let others: [PluginCatalogue.Candidate]

  func write(in presentation: Presentation, to sink: ByteSink) {
    switch presentation.format {
    case .json:
      let document = report.document(
        [.init("schema", .integer(1))],
        [
          .init("skipped", .integer(Int64(others.count))),
          .init("others", .array(others.compactMap(\.refusal))),
        ])
      sink.write(document.text + "\n")
    case .ndjson:
      for plugin in report.plugins { sink.write(plugin.value.text + "\n") }
    case .csv:
      CSV.write(["path", "loads", "order", "code", "cause", "message", "remedy"], to: sink)
      for plugin in report.plugins { for row in rows(of: plugin) { CSV.write(row, to: sink) } }
    case .table:
      sink.write(report.description + "\n")
      if !others.isEmpty {
        let files =
          others.count == 1
          ? "1 further file is no plugin" : "\(others.count) further files are no plugins"
        let names = others.map(\.path.fileName.escaped).shown(most: 3)
        sink.write("\n" + presentation.style.dim("\(files): \(names)") + "\n")
      }
    }
  }

  private func rows(of plugin: AdmissionReport.Plugin) -> [[String]] {
    let start = [
      plugin.path, plugin.loads ? "true" : "false", plugin.order.map(String.init) ?? "",
    ]
    guard !plugin.refusals.isEmpty else { return [start + ["", "", "", ""]] }
    return plugin.refusals.map { start + [$0.code, $0.cause ?? "", $0.message, $0.remedy] }
  }
}
