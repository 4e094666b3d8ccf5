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
