internal import BinaryImage
internal import Registration

extension Differences {
  /// One JSON document: records with their paths.
  func writeDocument(to sink: ByteSink) {
    var json = JSONWriter(sink)
    json.object { json in
      json.number(key: "schema", 1)
      let lists = [
        ("added", added.map(Self.entry)), ("removed", removed.map(Self.entry)),
        ("changed", changed.map { Self.change($0.old, $0.new) }),
        ("problems", problems.map { Self.problem($0.build, $0.trouble) }),
      ]
      for (key, values) in lists {
        json.key(text: key)
        json.array(values) { $0(&$1) }
      }
    }
    json.lineBreak()
  }

  /// One object a line, its one key what happened.
  func writeLines(to sink: ByteSink) {
    var json = JSONWriter(sink)
    let lists = [
      ("removed", removed.map(Self.entry)), ("added", added.map(Self.entry)),
      ("changed", changed.map { Self.change($0.old, $0.new) }),
      ("problem", problems.map { Self.problem($0.build, $0.trouble) }),
    ]
    for (key, values) in lists {
      for write in values {
        json.object { json in
          json.key(text: key)
          write(&json)
        }
        json.lineBreak()
      }
    }
  }

  /// Writes one value.
  private typealias Write = (inout JSONWriter) -> Void

  private static func entry(_ entry: Declared) -> Write { { entry.write(to: &$0) } }

  private static func change(_ old: Declared, _ new: Declared) -> Write {
    { json in
      json.object { json in
        json.key("old")
        old.write(to: &json)
        json.key("new")
        new.write(to: &json)
      }
    }
  }

  private static func problem(_ build: Build, _ trouble: Survey.Trouble) -> Write {
    { trouble.write(to: &$0) { $0.string(key: "build", build.rawValue) } }
  }

  /// A row a record; of a change, the old one and then the new one.
  func writeRows(to sink: ByteSink) {
    // The columns behind these differ with every build.
    var csv = CSVWriter(sink)
    csv.row(
      ["difference", "path", "container"]
        + FieldNames { RecordDump.writeSource(of: nil, to: &$0) }.names)
    func row(_ word: String, _ entry: Declared) {
      csv.string(key: "difference", word)
      entry.place.writeFile(to: &csv)
      RecordDump.writeSource(of: entry.record, to: &csv)
      csv.endRow()
    }
    for entry in removed { row("removed", entry) }
    for entry in added { row("added", entry) }
    for (old, new) in changed {
      row("changed from", old)
      row("changed to", new)
    }
  }

  /// `- module log`, `+ module net`, `~ service Greeter: priority=1 → –`, and their places.
  func writeText(to sink: ByteSink, _ style: Style) {
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
