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
      .map { $0.place == node.place ? $0.words : $0.line }
    let tooltip = ([node.place].compactMap { $0 } + findings).joined(separator: "; ")
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

extension Picture {
  /// The first of these findings, and how many more there are.
  func shown(_ notes: [Found]) -> [String] {
    let most = 12
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
