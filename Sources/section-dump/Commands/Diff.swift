internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump diff OLD NEW`: what a new build adds, drops and changes.
struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Shows what a new build adds, drops and changes.",
    discussion: """
      Compares what the entries say, not where they are. If none of a build's files can be \
      read, nothing is compared. Exit status: 0 no difference, 1 there is one, 2 an input could not be \
      read or holds a malformed entry.
      """)

  @Argument(
    help: "The build to compare with: a file, or a directory with --recursive.",
    completion: .file())
  var old: String

  @Argument(help: "The new build.", completion: .file())
  var new: String

  @Flag(name: .shortAndLong, help: "Read the files in directories, skipping what is no object.")
  var recursive = false

  @Option(help: ArgumentHelp("Compare the images for this machine alone.", valueName: "machine"))
  var arch = "all"

  @OptionGroup var reading: ReadingOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let both = Inputs(
      paths: [old, new], isRecursive: recursive, architecture: arch == "all" ? nil : arch,
      jobs: reading.jobs(forMany: recursive), isIsolated: reading.isolate)
    let surveys = both.paths.map { path in
      var inputs = both
      inputs.paths = [path]
      return Survey(inputs)
    }
    let errors = ByteSink(descriptor: 2)
    for trouble in surveys.flatMap(\.problems) { errors.say(trouble.line) }
    let differences = Differences(from: surveys[0], to: surveys[1])
    let presentation = output.values
    let sink = ByteSink(descriptor: 1)
    differences.write(in: presentation.format, to: sink, presentation.style)
    let isWritten = sink.finish(errors)
    if !isWritten || !differences.problems.isEmpty { throw ExitCode(2) }
    if !differences.isEmpty { throw ExitCode(1) }
  }
}
