internal import ArgumentParser

extension Presentation.Format: ExpressibleByArgument {}
extension Presentation.Color: ExpressibleByArgument {}

/// The arguments that say how results are printed.
struct OutputOptions: ParsableArguments {
  @Option(
    help: """
      How to print: table for people, json as one document, ndjson as an object a line, or csv.
      """)
  var format = Presentation.Format.table

  @Option(help: "When to use colours; auto heeds NO_COLOR and asks for a terminal.")
  var color = Presentation.Color.auto

  var values: Presentation { Presentation(format: format, color: color) }
}
