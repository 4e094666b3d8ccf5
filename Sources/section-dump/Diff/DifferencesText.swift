internal import BinaryImage
internal import Registration

extension Differences {
  /// One JSON document: records with their paths.
  func writeDocument(to sink: ByteSink) {
    var json = JSONWriter(sink)
    json.object { json in
      json.number(key: "schema", 1)
      for (key, entries) in [("added", added), ("removed", removed)] {
        json.key(key)
        json.array { json in
          for entry in entries { entry.write(to: &json) }
        }
      }
      json.array(key: "changed") { json in
        for (old, new) in changed { Self.write(old, new, to: &json) }
      }
      json.array(key: "problems") { json in
        for (build, trouble) in problems { Self.write(build, trouble, to: &json) }
      }
    }
    json.lineBreak()
  }

  private static func write(
    _ build: Build, _ trouble: Survey.Trouble, to json: inout JSONWriter
  ) {
    trouble.write(to: &json) { json in
      json.string(key: "build", build.rawValue)
    }
  }

  /// One object a line, its one key what happened.
  func writeLines(to sink: ByteSink) {
    var json = JSONWriter(sink)
    for (key, entries) in [("removed", removed), ("added", added)] {
      for entry in entries {
        json.object { json in
          json.key(key)
          entry.write(to: &json)
        }
        json.lineBreak()
      }
    }
    for (old, new) in changed {
      json.object { json in
        json.key("changed")
        Self.write(old, new, to: &json)
      }
      json.lineBreak()
    }
    for (build, trouble) in problems {
      json.object { json in
        json.key("problem")
        Self.write(build, trouble, to: &json)
      }
      json.lineBreak()
    }
  }

  private static func write(_ old: Declared, _ new: Declared, to json: inout JSONWriter) {
    json.object { json in
      json.key("old")
      old.write(to: &json)
      json.key("new")
      new.write(to: &json)
    }
  }

  /// A row a record; of a change, the old one and then the new one.
  func writeRows(to sink: ByteSink) {
    CSV.write(
      [
        "difference", "path", "container", "kind", "name", "implementation", "priority",
        "attributes", "section", "index",
      ], to: sink)
    func row(_ word: String, _ entry: Declared) {
      let (record, place) = (entry.record, entry.place)
      CSV.write(
        [
          word, place.path, place.container.joined(separator: "/"), record.kind.description,
          record.name, record.implementation ?? "", String(record.attributes.priority),
          record.attributes.json, record.origin.section,
          String(record.origin.index),
        ], to: sink)
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
      let words = record.attributes.words(withPriority: true)
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
