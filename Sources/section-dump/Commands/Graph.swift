internal import ArgumentParser
internal import BinaryImage

/// `section-dump graph PATH…`: what a set of files declares, as a picture.
struct Graph: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Draws modules, services and what they require.",
    discussion: """
      Reads all files as one set. html is one page that needs no network: drag or use the arrow \
      keys to move, the wheel or + and - to zoom, / to search; #search=NAME behind its address \
      searches at once. Modules that are required and missing, and circles, stand out. Exit \
      status: 0 the picture was drawn, 2 an input could not be read or holds a malformed entry.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case dot, mermaid, html
  }

  @OptionGroup var inputs: InputOptions
  @OptionGroup var isolation: IsolationOptions

  @Option(
    help: "How to draw: for Graphviz, for Mermaid in Markdown, or as a page for a browser.")
  var format = Format.dot

  func run() throws {
    let files = isolation.apply(to: inputs.values)
    if files.child != nil,
      let status = ChildServer.serve({ Survey.answer($0, files) })
    {
      return try status.end()
    }
    let survey = Survey(files)
    let errors = ByteSink(descriptor: 2)
    for (problem, path) in survey.problems {
      errors.write("section-dump: \(problem.line(path: path).escaped)\n")
    }
    let picture = Picture(of: survey)
    let sink = ByteSink(descriptor: 1)
    switch format {
    case .dot: DotText(picture: picture, sink: sink).write()
    case .mermaid: MermaidText(picture: picture, sink: sink).write()
    case .html: GraphPage(picture: picture, sink: sink).write()
    }
    sink.flush()
    if sink.failure != 0 {
      errors.write("section-dump: standard output: \(systemMessage(sink.failure))\n")
    }
    errors.flush()
    if sink.failure != 0 || !survey.problems.isEmpty { throw ExitCode(2) }
  }
}
