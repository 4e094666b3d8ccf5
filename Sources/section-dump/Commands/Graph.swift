internal import ArgumentParser

/// `section-dump graph PATH…`: draws what a set of files declares.
struct Graph: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Draws modules, services and what they require.",
    discussion: """
      Reads all files as one set. Marks cycles and required modules that are missing. Shows the findings of verify \
      too, and the inputs that could not be read. Graphviz makes an image of the graph: section-dump graph … | dot \
      -Tsvg. Exit status: 0 the picture was drawn, 2 an input could not be read or holds a malformed entry.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case dot, mermaid, json
  }

  @OptionGroup var inputs: InputOptions

  @Option(help: "How to draw: for Graphviz, for Mermaid in Markdown, or as data.")
  var format = Format.dot

  func run() throws {
    let set = FileSet(inputs.values, readsTypes: true)
    let graph = EntryGraph(of: set)
    try OutputOptions.print(
      set.problems.map(\.line), isMissing: !set.problems.isEmpty, fails: false
    ) { sink in
      switch format {
      case .dot: graph.writeDot(to: sink)
      case .mermaid: graph.writeMermaid(to: sink)
      case .json: graph.writeDocument(to: sink)
      }
    }
  }
}
