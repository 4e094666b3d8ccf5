internal import ArgumentParser
internal import BinaryImage

/// `section-dump graph PATH…`: what a set of files declares, as a picture.
struct Graph: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Draws modules, services and what they require.",
    discussion: """
      Reads all files as one set. html is one page that needs no network: drag or use the arrow \
      keys to move, the wheel or + and - to zoom, / to search; #search=NAME behind its address \
      searches at once. Modules that are required and missing, and cycles, are marked; what verify \
      finds is listed beside the picture, and so is what could not be read. Exit status: 0 the picture was drawn, 2 an input could not be read or holds a malformed entry.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case dot, mermaid, html, json
  }

  @OptionGroup var inputs: InputOptions

  @Option(
    help: "How to draw: for Graphviz, for Mermaid in Markdown, as a page for a browser, or as data."
  )
  var format = Format.dot

  func run() throws {
    let survey = Survey(inputs.values, readsTypes: true)
    let errors = ByteSink(descriptor: 2)
    for trouble in survey.problems { errors.say(trouble.line) }
    let picture = Picture(of: survey)
    let sink = ByteSink(descriptor: 1)
    switch format {
    case .dot: DotText(picture: picture, sink: sink).write()
    case .mermaid: MermaidText(picture: picture, sink: sink).write()
    case .html: picture.writePage(to: sink)
    case .json: GraphData(picture: picture).writeDocument(to: sink)
    }
    if !sink.finish(errors) || !survey.problems.isEmpty { throw ExitCode(2) }
  }
}
