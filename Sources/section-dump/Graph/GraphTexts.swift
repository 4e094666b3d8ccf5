internal import BinaryImage

/// A picture in the language of Graphviz: `section-dump graph … | dot -Tsvg`.
///
/// Shapes and lines tell kinds apart, so that it can be read without colour.
struct DotText {
  let picture: Picture
  let sink: ByteSink

  func write() {
    sink.write(
      """
      digraph entries {
        rankdir=LR
        node [shape=box fontname="sans-serif" fontsize=11 color="#4a5568"]
        edge [arrowsize=0.7 fontname="sans-serif" fontsize=9 color="#4a5568"]

      """)
    for (position, file) in picture.files.enumerated() {
      sink.write("  subgraph cluster_\(position) {\n")
      sink.write("    label=\(Self.quoted(file.title)) style=rounded color=\"#a0aec0\"\n")
      for node in file.nodes { write(node, indented: "    ") }
      sink.write("  }\n")
    }
    for node in picture.freeNodes { write(node, indented: "  ") }
    for edge in picture.edges { write(edge) }
    let notes = picture.shown(picture.notes)
    if !notes.isEmpty {
      let lines = notes.map { Self.escape($0) + "\\l" }.joined()
      sink.write("  label=\"\(lines)\" labelloc=b labeljust=l fontname=\"sans-serif\"\n")
    }
    sink.write("}\n")
  }

  private func write(_ position: Int, indented indent: String) {
    let node = picture.nodes[position]
    var attributes = [
      "label=\"\(Self.escape(node.name))\\n\(Self.escape(node.caption))\"",
      "shape=\(node.kind.drawing.shape)",
    ]
    var styles: [String] = []
    if node.kind == .module { styles.append("rounded") }
    if node.kind == .missing { styles.append("dashed") }
    if node.isInCycle { styles.append("bold") }
    if !styles.isEmpty { attributes.append("style=\"\(styles.joined(separator: ","))\"") }
    if node.kind == .missing || node.isInCycle { attributes.append("color=\"#c53030\"") }
    // A finding that concerns thousands is told at its own place.
    let findings = node.findings.map { picture.findings[$0] }
      .filter { $0.nodes.first == position || $0.nodes.count <= 8 }
    let shown = findings.prefix(Picture.mostShown)
      .map { $0.place == node.place ? $0.words : $0.line }
    let more = findings.count > shown.count ? ["and \(findings.count - shown.count) more"] : []
    let tooltip = ([node.place].compactMap { $0 } + shown + more).joined(separator: "; ")
    if !tooltip.isEmpty { attributes.append("tooltip=\(Self.quoted(tooltip))") }
    sink.write("\(indent)n\(position) [\(attributes.joined(separator: " "))]\n")
  }

  private func write(_ edge: Picture.Edge) {
    var attributes: [String] = []
    switch edge.kind {
    case .requires: break
    case .after: attributes = ["style=dashed", "arrowhead=vee", "label=after"]
    case .provides: attributes = ["style=dotted", "arrowhead=empty"]
    }
    if edge.isInCycle { attributes += ["color=\"#c53030\"", "penwidth=2"] }
    let list = attributes.isEmpty ? "" : " [\(attributes.joined(separator: " "))]"
    sink.write("  n\(edge.from) -> n\(edge.to)\(list)\n")
  }

  /// A quoted string: `\` begins an escape there, and `&` an entity of HTML.
  static func quoted(_ text: String) -> String { "\"\(escape(text))\"" }

  private static func escape(_ text: String) -> String {
    let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "&": "&amp;"]
    return text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
  }
}

/// A picture as a Mermaid flowchart, which many hosts of Markdown draw.
struct MermaidText {
  let picture: Picture
  let sink: ByteSink

  func write() {
    sink.write("flowchart LR\n")
    for (position, file) in picture.files.enumerated() {
      sink.write("  subgraph f\(position)[\"\(Self.escape(file.title))\"]\n")
      for node in file.nodes { write(node, indented: "    ") }
      sink.write("  end\n")
    }
    for node in picture.freeNodes { write(node, indented: "  ") }
    for edge in picture.edges {
      let arrow =
        switch edge.kind {
        case .requires: edge.isInCycle ? "==>" : "-->"
        case .after: edge.isInCycle ? "==>|after|" : "-.->|after|"
        case .provides: "-.->"
        }
      sink.write("  n\(edge.from) \(arrow) n\(edge.to)\n")
    }
    for (number, note) in picture.shown(picture.findings).enumerated() {
      sink.write("  note\(number)>\"\(Self.escape(note))\"]\n")
    }
    let isMarked = picture.nodes.map { node in
      node.isInCycle || node.kind == .missing
        || node.findings.contains { picture.findings[$0].finding.level == .error }
    }
    guard isMarked.contains(true) else { return }
    sink.write("  classDef wrong stroke:#c53030,stroke-width:3px,stroke-dasharray:4\n")
    for node in isMarked.indices where isMarked[node] { sink.write("  class n\(node) wrong\n") }
  }

  private func write(_ position: Int, indented indent: String) {
    let node = picture.nodes[position]
    let (_, opening, closing) = node.kind.drawing
    let label = [node.name, node.caption].map(Self.escape).joined(separator: "<br>")
    sink.write("\(indent)n\(position)\(opening)\"\(label)\"\(closing)\n")
  }

  /// Everything that Mermaid, Markdown or HTML could take for something else as a numbered entity.
  private static func escape(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      let isPlain =
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || " .-_:/,()·".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "#\(scalar.value);"
    }.joined()
  }
}

extension Picture {
  /// The most findings that are written in one place.
  static let mostShown = 12

  /// The first of these findings, and how many more there are.
  func shown(_ notes: [Found]) -> [String] {
    let most = Self.mostShown
    return notes.prefix(most).map(\.line)
      + (notes.count > most ? ["and \(notes.count - most) more, which verify lists"] : [])
  }
}

extension Picture.Node.Kind {
  /// A shape of Graphviz, and the brackets of Mermaid.
  var drawing: (shape: String, opening: String, closing: String) {
    switch self {
    case .module: ("box", "(", ")")
    case .service: ("ellipse", "([", "])")
    case .implementation: ("component", "[[", "]]")
    case .target: ("hexagon", "{{", "}}")
    case .route: ("cds", "[/", "/]")
    case .other: ("note", "[", "]")
    case .missing: ("box", "[", "]")
    }
  }
}

extension Picture.Node {
  /// What is below the name: its kind where the shape is not enough, and what is wrong.
  var caption: String {
    let word =
      switch kind {
      case .missing: "missing module"
      case .other: "entry"
      default: kind.rawValue
      }
    let words = [word, detail, isInCycle ? "in a cycle" : ""]
    return words.filter { !$0.isEmpty }.joined(separator: " · ")
  }
}

extension Picture {
  /// Writes the picture as data, in one JSON document.
  func writeDocument(to sink: ByteSink) {
    var json = FieldWriter(sink)
    json.object { json in
      json.number(key: "schema", 1)
      json.string(key: "summary", summary)
      json.list(key: "files", files) { json, file in
        json.string(key: "name", file.name)
        json.string(key: "machine", file.machine)
      }
      json.list(key: "nodes", nodes) { json, node in
        json.string(key: "kind", node.kind.rawValue)
        json.string(key: "name", node.name)
        json.string(key: "caption", node.caption)
        json.string(key: "attributes", node.attributes)
        json.string(key: "place", node.place)
        json.number(key: "file", node.file)
        json.boolean(key: "isInCycle", node.isInCycle)
        json.array(key: "findings", node.findings) { $1.number($0) }
      }
      json.list(key: "edges", edges) { json, edge in
        json.string(key: "kind", edge.kind.rawValue)
        json.number(key: "from", edge.from)
        json.number(key: "to", edge.to)
        json.boolean(key: "isInCycle", edge.isInCycle)
      }
      json.list(key: "findings", findings) { json, found in
        let finding = found.finding
        json.string(key: "code", finding.code)
        json.string(key: "level", finding.level.rawValue)
        json.string(key: "place", found.place)
        json.string(key: "message", finding.message.escaped)
        json.string(key: "remedy", finding.remedy.escaped)
        json.array(key: "nodes", found.nodes) { $1.number($0) }
      }
      json.array(key: "problems", problems) { $0.writeProblem(to: &$1) }
    }
    json.lineBreak()
  }
}
