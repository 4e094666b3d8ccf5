internal import ArgumentParser

/// The arguments that say which files are read.
struct InputOptions: ParsableArguments {
  @Argument(
    help: "Object files; directories with --recursive; - for standard input.",
    completion: .file())
  var paths: [String] = []

  @Flag(
    name: .shortAndLong,
    help: "Read the files in directories too, skipping what is no object file.")
  var recursive = false

  @Flag(help: "Read paths from standard input as well, each ended by NUL.")
  var stdin0 = false

  @Option(
    help: ArgumentHelp(
      "Read the images for this machine alone, as reports name it; or all.", valueName: "machine"))
  var arch = "all"

  @Option(
    help: ArgumentHelp(
      "The most that is kept of standard input, or shown of one file by hex and strings.",
      valueName: "bytes"))
  var maxBytes = Inputs.defaultMaxBytes

  func validate() throws {
    guard !paths.isEmpty || stdin0 else {
      throw ValidationError("Name at least one file, or - for standard input.")
    }
    guard maxBytes > 0 else { throw ValidationError("--max-bytes must be positive.") }
    guard paths.count(where: { $0 == "-" }) + (stdin0 ? 1 : 0) <= 1 else {
      throw ValidationError("Standard input can be read once: as one -, or by --stdin0.")
    }
  }

  var values: Inputs {
    Inputs(
      paths: paths, isRecursive: recursive, readsList: stdin0,
      architecture: arch == "all" ? nil : arch, maxBytes: maxBytes)
  }
}
