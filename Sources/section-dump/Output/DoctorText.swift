internal import BinaryImage
internal import PluginFiles

/// The report of `doctor` in each format.
struct DoctorText {
  let report: AdmissionReport
  /// How many files are no plugins.
  let skipped: Int
  let problems: [ImageError]

  func write(in presentation: Presentation, to sink: ByteSink) {
    var json = JSONWriter(sink)
    switch presentation.format {
    case .json:
      json.object { json in
        json.number(key: "schema", 1)
        json.object(key: "host") { json in
          json.string(key: "path", report.host)
          json.string(key: "machine", report.machine)
          json.number(key: "libraries", report.libraries)
        }
        json.array(key: "plugins", report.plugins) { plugin, json in
          json.lineBreak()
          write(plugin, to: &json)
        }
        json.number(key: "skipped", skipped)
        json.array(key: "problems", problems) { $0.write(to: &$1) }
      }
      json.lineBreak()
    case .ndjson:
      for plugin in report.plugins {
        write(plugin, to: &json)
        json.lineBreak()
      }
    case .csv:
      CSV.write(["path", "loads", "order", "code", "cause", "message", "remedy"], to: sink)
      for plugin in report.plugins { for row in rows(of: plugin) { CSV.write(row, to: sink) } }
    case .table:
      sink.write(report.description + "\n")
      if skipped > 0 {
        let note = "\(skipped.counted("further file")) in the folders: no plugins"
        sink.write("\n" + presentation.style.dim(note) + "\n")
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

  private func write(_ plugin: AdmissionReport.Plugin, to json: inout JSONWriter) {
    json.object { json in
      json.string(key: "path", plugin.path)
      json.boolean(key: "loads", plugin.loads)
      json.number(key: "order", plugin.order)
      json.array(key: "offers", plugin.offers)
      json.array(key: "needs", plugin.needs)
      json.array(key: "refusals", plugin.refusals) { refusal, json in
        json.object { json in
          json.string(key: "code", refusal.code)
          json.string(key: "message", refusal.message)
          json.string(key: "expected", refusal.expected)
          json.string(key: "found", refusal.found)
          json.string(key: "remedy", refusal.remedy)
          json.string(key: "cause", refusal.cause)
        }
      }
      json.array(key: "remarks", plugin.remarks)
    }
  }
}
