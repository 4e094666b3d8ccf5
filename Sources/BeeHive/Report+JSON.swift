internal import Registration

extension Report {
  /// The report as JSON, for hosts without an encoder: what `JSONEncoder` makes of it, in this order
  /// of keys and with a line for each entry.
  public var json: String {
    let lines = entries.map { "    \($0.json)" }
    let entries = lines.isEmpty ? "[]" : "[\n\(lines.joined(separator: ",\n"))\n  ]"
    return """
      {
        "entries": \(entries),
        "images": \(images.json),
        "order": \(order.json),
        "lifts": \(lifts.json),
        "remarks": \(remarks.json)
      }

      """
  }
}

extension Report.Line {
  /// What is nil is left out.
  fileprivate var json: String {
    let members: [(String, String?)] = [
      ("state", state.quotedForJSON), ("kind", kind.quotedForJSON), ("name", name.quotedForJSON),
      ("implementation", implementation?.quotedForJSON), ("origin", origin.quotedForJSON),
      ("section", section?.quotedForJSON), ("index", index.map(String.init)),
      ("code", code?.quotedForJSON), ("reason", reason?.quotedForJSON),
      ("launch", launch?.quotedForJSON),
    ]
    let written = members.compactMap { name, value in
      value.map { "\(name.quotedForJSON): \($0)" }
    }
    return "{\(written.joined(separator: ", "))}"
  }
}

extension [String] {
  fileprivate var json: String { "[\(map(\.quotedForJSON).joined(separator: ", "))]" }
}
