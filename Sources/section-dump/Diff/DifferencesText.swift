internal import BinaryImage
internal import Registration

extension Differences {
  /// Writes all of it; one object a line has one key, what happened.
  func write(in format: Presentation.Format, to sink: ByteSink, _ style: Style) {
    var json = JSONWriter(sink)
    switch format {
    case .json:
      json.object { json in
        json.number(key: "schema", 1)
        for list in [additions, removals, changes, troubles] {
          json.key(text: list.name)
          json.array(list.values) { $0(&$1) }
        }
      }
      json.lineBreak()
    case .ndjson:
      for list in [removals, additions, changes, troubles] {
        for write in list.values {
          json.object { json in
            json.key(text: list.word)
            write(&json)
          }
          json.lineBreak()
        }
      }
    case .csv: writeRows(to: sink)
    case .table: writeText(to: sink, style)
    }
  }

  /// What happened, in a document and in a line, and what writes each value.
  private typealias List = (name: String, word: String, values: [(inout JSONWriter) -> Void])

  private var additions: List {
    ("added", "added", added.map { entry in { entry.write(to: &$0) } })
  }

  private var removals: List {
    ("removed", "removed", removed.map { entry in { entry.write(to: &$0) } })
  }

  private var changes: List {
    let values = changed.map { old, new in
      { (json: inout JSONWriter) in
        json.object { json in
          json.key("old")
          old.write(to: &json)
          json.key("new")
          new.write(to: &json)
        }
      }
    }
    return ("changed", "changed", values)
  }

  private var troubles: List {
    let values = problems.map { build, trouble in
      { (json: inout JSONWriter) in
        trouble.write(to: &json) { $0.string(key: "build", build.rawValue) }
      }
    }
    return ("problems", "problem", values)
  }

  /// A row a record; of a change, the old one and then the new one.
  private func writeRows(to sink: ByteSink) {
    // The columns behind these differ with every build.
    var csv = CSVWriter(sink)
    func write(_ word: String?, _ entry: Declared?, _ csv: inout CSVWriter) {
      csv.string(key: "difference", word)
      Place.writeFile(of: entry?.place, to: &csv)
      Record.writeSource(of: entry?.record, to: &csv)
    }
    csv.header { write(nil, nil, &$0) }
    for entry in removed { csv.row { write("removed", entry, &$0) } }
    for entry in added { csv.row { write("added", entry, &$0) } }
    for (old, new) in changed {
      csv.row { write("changed from", old, &$0) }
      csv.row { write("changed to", new, &$0) }
    }
  }

  /// `- module log`, `+ module net`, `~ service Greeter: priority=1 → –`, and their places.
  private func writeText(to sink: ByteSink, _ style: Style) {
    func line(_ sign: String, _ entry: Declared, _ rest: String = "") {
      let record = entry.record
      let text = "\(sign) \(record.kind) \(record.name)\(rest)".escaped
      sink.write("\(text)\(style.dim("  \(entry.place.description)".escaped))\n")
    }
    func details(_ record: Record) -> String {
      let words = record.attributes.words
      return (record.implementation.map { " → \($0)" } ?? "") + (words.isEmpty ? "" : "  \(words)")
    }
    for entry in removed { line("-", entry, details(entry.record)) }
    for entry in added { line("+", entry, details(entry.record)) }
    for (old, new) in changed { line("~", new, ": \(old.record.changes(to: new.record))") }
    sink.write(style.dim(summary) + "\n")
  }

  private var summary: String {
    guard unread.isEmpty else {
      return
        "not compared: nothing of \(unread.map(\.rawValue).joined(separator: " and ")) was read"
    }
    let sums =
      isEmpty
      ? "no difference"
      : "\(removed.count) removed, \(added.count) added, \(changed.count) changed"
    return problems.isEmpty
      ? sums : "\(sums), of what could be read: \(problems.count.counted("problem"))"
  }
}

extension Survey.Declared {
  fileprivate func write(to json: inout JSONWriter) { record.write(to: &json, path: place.file) }
}
