internal import BinaryImage

extension EntryGraph {
  /// The most findings to list together.
  private static let mostShown = 12

  /// The nodes that are in no file.
  private var freeNodes: [Int] { nodes.indices.filter { nodes[$0].file == nil } }

  /// Returns the title of a file: its name and its machine.
  private func title(_ file: Int) -> String {
    [files[file].name, files[file].machine].filter { !$0.isEmpty }.joined(separator: "  ")
  }

  /// Returns the sentences of the first findings, and one that counts the others.
  private func shown(_ findings: [Finding]) -> [String] {
    let most = Self.mostShown
    return findings.prefix(most).map(\.sentence)
      + (findings.count > most ? ["and \(findings.count - most) more, which verify lists"] : [])
  }

  // MARK: - Graphviz

  /// Writes the graph for Graphviz: `section-dump graph … | dot -Tsvg`.
  ///
  /// Shapes and lines tell kinds apart, so the drawing needs no colour.
  func writeDot(to sink: ByteSink) {
    sink.write(
      """
      digraph entries {
        rankdir=LR
        node [shape=box fontname="sans-serif" fontsize=11 color="#4a5568"]
        edge [arrowsize=0.7 fontname="sans-serif" fontsize=9 color="#4a5568"]

      """)
    for position in files.indices {
      sink.write("  subgraph cluster_\(position) {\n")
      sink.write("    label=\"\(Self.inDot(title(position)))\" style=rounded color=\"#a0aec0\"\n")
      for node in files[position].nodes { sink.write("    \(dotNode(node))\n") }
      sink.write("  }\n")
    }
    for node in freeNodes { sink.write("  \(dotNode(node))\n") }
    for edge in edges {
      let attributes = Self.dotAttributes(of: edge).joined(separator: " ")
      sink.write("  n\(edge.from) -> n\(edge.to)\(attributes.isEmpty ? "" : " [\(attributes)]")\n")
    }
    // The findings that no node shows.
    let notes = shown(findings.filter(\.nodes.isEmpty).map(\.finding))
    if !notes.isEmpty {
      let lines = notes.map { Self.inDot($0) + "\\l" }.joined()
      sink.write("  label=\"\(lines)\" labelloc=b labeljust=l fontname=\"sans-serif\"\n")
    }
    sink.write("}\n")
  }

  private func dotNode(_ position: Int) -> String {
    let node = nodes[position]
    var attributes = [
      "label=\"\(Self.inDot(node.name))\\n\(Self.inDot(node.caption))\"",
      "shape=\(node.kind.drawing.shape)",
    ]
    var styles: [String] = []
    if node.kind == .module { styles.append("rounded") }
    if node.kind == .missing { styles.append("dashed") }
    if node.isInCycle { styles.append("bold") }
    if !styles.isEmpty { attributes.append("style=\"\(styles.joined(separator: ","))\"") }
    if node.kind == .missing || node.isInCycle { attributes.append("color=\"#c53030\"") }
    // A finding on many nodes is shown only at the first of them.
    let findings = node.findings.map { self.findings[$0] }
      .filter { $0.nodes.first == position || $0.nodes.count <= 8 }.map(\.finding)
    let shown = findings.prefix(Self.mostShown)
      .map { $0.placeText == node.place ? $0.words : $0.sentence }
    let more = findings.count > shown.count ? ["and \(findings.count - shown.count) more"] : []
    let tooltip = ([node.place].compactMap { $0 } + shown + more).joined(separator: "; ")
    if !tooltip.isEmpty { attributes.append("tooltip=\"\(Self.inDot(tooltip))\"") }
    return "n\(position) [\(attributes.joined(separator: " "))]"
  }

  private static func dotAttributes(of edge: Edge) -> [String] {
    let attributes =
      switch edge.kind {
      case .requires: [] as [String]
      case .after: ["style=dashed", "arrowhead=vee", "label=after"]
      case .provides: ["style=dotted", "arrowhead=empty"]
      case .needs: ["label=needs"]
      }
    return attributes + (edge.isInCycle ? ["color=\"#c53030\"", "penwidth=2"] : [])
  }

  /// Escapes a text for quotes in Graphviz, where `\` begins an escape and `&` an entity of HTML.
  private static func inDot(_ text: String) -> String {
    let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "&": "&amp;"]
    return text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
  }

  // MARK: - Mermaid

  /// Writes the graph as a Mermaid flowchart, which many viewers of Markdown draw.
  func writeMermaid(to sink: ByteSink) {
    sink.write("flowchart LR\n")
    for position in files.indices {
      sink.write("  subgraph f\(position)[\"\(Self.inMermaid(title(position)))\"]\n")
      for node in files[position].nodes { sink.write("    \(mermaidNode(node))\n") }
      sink.write("  end\n")
    }
    for node in freeNodes { sink.write("  \(mermaidNode(node))\n") }
    for edge in edges {
      let arrow =
        switch edge.kind {
        case .requires: edge.isInCycle ? "==>" : "-->"
        case .after: edge.isInCycle ? "==>|after|" : "-.->|after|"
        case .provides: "-.->"
        case .needs: "-->|needs|"
        }
      sink.write("  n\(edge.from) \(arrow) n\(edge.to)\n")
    }
    for (number, note) in shown(findings.map(\.finding)).enumerated() {
      sink.write("  note\(number)>\"\(Self.inMermaid(note))\"]\n")
    }
    let marked = nodes.indices.filter { position in
      let node = nodes[position]
      return node.isInCycle || node.kind == .missing
        || node.findings.contains { findings[$0].finding.level == .error }
    }
    guard !marked.isEmpty else { return }
    sink.write("  classDef wrong stroke:#c53030,stroke-width:3px,stroke-dasharray:4\n")
    for node in marked { sink.write("  class n\(node) wrong\n") }
  }

  private func mermaidNode(_ position: Int) -> String {
    let node = nodes[position]
    let (_, opening, closing) = node.kind.drawing
    let label = [node.name, node.caption].map(Self.inMermaid).joined(separator: "<br>")
    return "n\(position)\(opening)\"\(label)\"\(closing)"
  }

  /// Escapes every character that Mermaid, Markdown or HTML could interpret, as a numbered entity.
  private static func inMermaid(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      let isPlain =
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || " .-_:/,()·".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "#\(scalar.value);"
    }.joined()
  }
}

extension EntryGraph.Node.Kind {
  /// The shape in Graphviz, and the brackets in Mermaid.
  fileprivate var drawing: (shape: String, opening: String, closing: String) {
    switch self {
    case .module: ("box", "(", ")")
    case .service: ("ellipse", "([", "])")
    case .implementation: ("component", "[[", "]]")
    case .target: ("hexagon", "{{", "}}")
    case .route: ("cds", "[/", "/]")
    case .plugin: ("tab", "[", "]")
    case .other: ("note", "[", "]")
    case .missing: ("box", "[", "]")
    }
  }
}

extension EntryGraph.Node {
  /// The text below the name: the kind, the detail, and whether the node is in a cycle.
  var caption: String {
    let word =
      switch kind {
      case .missing: "missing \(detail)"
      case .other: "entry"
      default: kind.rawValue
      }
    let words = [word, kind == .missing ? "" : detail, isInCycle ? "in a cycle" : ""]
    return words.filter { !$0.isEmpty }.joined(separator: " · ")
  }
}

extension Finding {
  /// The location of the entry or file, escaped.
  var placeText: String { place.description.escaped }
  /// `error: …; remedy`, without the location.
  fileprivate var words: String { "\(level.rawValue): \(message); \(remedy)".escaped }
  /// `libshop.so BeehiveMods[0]: error: …; remedy`
  fileprivate var sentence: String { "\(placeText): \(words)" }
}
