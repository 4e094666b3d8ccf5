internal import Registration

extension Differences {
  /// One JSON document: records with their paths.
  func writeDocument(to sink: ByteSink) {
    var json = JSONWriter(sink)
    json.object { json in
      json.key("schema")
      json.number(1)
      for (key, entries) in [("added", added), ("removed", removed)] {
        json.key(key)
        json.array { json in
          for entry in entries { entry.write(to: &json) }
        }
      }
      json.key("changed")
      json.array { json in
        for (old, new) in changed { Self.write(old, new, to: &json) }
      }
    }
    json.lineBreak()
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
    let sums = "\(removed.count) removed, \(added.count) added, \(changed.count) changed"
    sink.write(style.dim(isEmpty ? "no difference" : sums) + "\n")
  }
}

extension Survey.Declared {
  fileprivate func write(to json: inout JSONWriter) { record.write(to: &json, path: place.file) }
}
