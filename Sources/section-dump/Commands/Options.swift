internal import ArgumentParser
internal import Registration
internal import Threads

/// The arguments that name the files to read.
struct InputOptions: ParsableArguments {
  @Argument(
    help: "Object files; directories with --recursive; - for standard input.",
    completion: .file())
  var paths: [String] = []

  @Flag(
    name: .shortAndLong,
    help: "Read the files in directories too, and skip those that are not object files.")
  var recursive = false

  @Flag(help: "Read paths from standard input as well, each ended by NUL.")
  var stdin0 = false

  @Option(
    help: ArgumentHelp(
      "Read only the images for this machine, named as in reports; or all.", valueName: "machine"),
    completion: .list(machines))
  var arch = "all"

  @Option(
    help: ArgumentHelp(
      "The most bytes to keep of standard input, or to show of one file (hex, strings).",
      valueName: "bytes"))
  var maxBytes = Inputs.defaultMaxBytes

  @OptionGroup var reading: ReadingOptions

  /// The machines that most files are made for, and `all`.
  static let machines = [
    "all", "x86_64", "i386", "aarch64", "arm64", "arm64e", "arm", "armv7", "riscv64", "ppc64le",
    "s390x", "loongarch64", "mips", "mips64",
  ]

  func validate() throws {
    try expect(!paths.isEmpty || stdin0, "Name at least one file, or - for standard input.")
    try expect(maxBytes > 0, "--max-bytes must be positive.")
    let uses = paths.count { $0 == "-" } + (stdin0 ? 1 : 0)
    try expect(uses <= 1, "Standard input can be read once: as one -, or by --stdin0.")
  }

  var values: Inputs {
    Inputs(
      paths: paths + CommandArguments.current.laterPaths, isRecursive: recursive, readsList: stdin0,
      architecture: arch == "all" ? nil : arch, maxBytes: maxBytes,
      jobs: reading.jobs(forMany: recursive || stdin0), isIsolated: reading.isolate)
  }
}

/// The arguments of most commands: the files to read, and the format of results.
struct FileOptions: ParsableArguments {
  @OptionGroup var inputs: InputOptions
  @OptionGroup var output: OutputOptions

  /// Prints the results of a command on each file.
  func show(_ listing: ImageListing<some Tabled>) throws {
    let status = listing.show(inputs.values, in: output.format, output.style)
    if !status.isSuccess { throw status }
  }
}

/// The sections of each file to show.
struct SectionOptions: ParsableArguments {
  @Option(
    name: .customLong("section"),
    help: ArgumentHelp(
      "Show the sections whose name matches, as a shell matches files: * ? [a-z]; for Mach-O also "
        + "SEGMENT,section. May be repeated; status 1 if one has no match.", valueName: "glob"),
    completion: .list([Scan.modules, Scan.services, Scan.typedRecords]))
  var names: [String] = []

  @Flag(
    help: ArgumentHelp(
      "Show whole texts, up to --max-bytes together. By default only the first \(SlotTexts.shown) bytes of each text."
    ))
  var wholeTexts = false

  func validate() throws {
    try expect(!names.isEmpty, "Name at least one section: --section <glob>.")
    try expect(!names.contains(""), "--section is empty; name a section.")
  }

  var wanted: Wanted { Wanted(patterns: [("section", names)]) }
}

/// The number of files to read at a time, and whether a child reads each file.
struct ReadingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The number of files to read at a time; the result is the same. By default the number of "
        + "processors for directories and lists, else one.", valueName: "number"))
  var jobs: Int?

  @Flag(
    help: ArgumentHelp(
      "Read files in child processes of limited memory and time. If a file ends its child, only that "
        + "file is a problem."))
  var isolate = false

  func validate() throws {
    try expect(jobs ?? 1 > 0, "--jobs must be positive.")
  }

  /// Returns the number of files to read at a time: the requested number, or the best for many or for few files. It is
  /// limited to what can be of use.
  func jobs(forMany isMany: Bool) -> Int {
    let processors = POSIXThread.processors
    return min(jobs ?? (isMany ? processors : 1), 8 * processors)
  }
}

/// Throws an error about the arguments unless they are right.
func expect(_ isRight: Bool, _ message: String) throws {
  if !isRight { throw ValidationError(message) }
}

extension OutputFormat: ExpressibleByArgument {}
extension ReportFormat: ExpressibleByArgument {}
extension Style.Color: ExpressibleByArgument {}

/// The arguments for printing results.
struct OutputOptions: ParsableArguments {
  @Option(
    help: """
      How to print: table for people, json as one document, ndjson as one object per line, or csv.
      """)
  var format = OutputFormat.table

  @OptionGroup var colors: ColorOptions

  var style: Style { colors.style }

  /// Prints a report of one piece, and lines on standard error. Throws status 2 if something `isMissing` in it or it
  /// could not be written. Otherwise throws status 1 if it `fails`.
  static func print(
    _ lines: [String] = [], isMissing: Bool, fails: Bool, _ write: (ByteSink) -> Void
  ) throws {
    let (sink, errors) = (ByteSink(descriptor: 1), ByteSink(descriptor: 2))
    write(sink)
    for line in lines { errors.say(line) }
    guard sink.finish(errors), !isMissing else { throw ExitCode(2) }
    if fails { throw ExitCode(1) }
  }
}

/// The argument for colours in results.
struct ColorOptions: ParsableArguments {
  @Option(help: "When to use colours; auto does on a terminal, and heeds NO_COLOR and FORCE_COLOR.")
  var color = Style.Color.auto

  var style: Style { Style(color) }
}

/// The arguments for printing findings.
struct ReportOptions: ParsableArguments {
  @Option(
    help: """
      How to print: table for people, json as one document, ndjson as one object per line, csv, or for a service: \
      sarif, github for annotations of a workflow, gitlab for a report of code quality.
      """)
  var format = ReportFormat.table

  @OptionGroup var colors: ColorOptions

  var style: Style { colors.style }

  /// Prints findings in the format of a service, or lets `write` print them in a format that all commands have. Prints
  /// lines on standard error. Throws what ``OutputOptions`` throws.
  func print(
    _ findings: @autoclosure () -> [Finding], _ lines: [String] = [], isMissing: Bool, fails: Bool,
    _ write: (OutputFormat, ByteSink) -> Void
  ) throws {
    try OutputOptions.print(lines, isMissing: isMissing, fails: fails) { sink in
      switch format {
      case .sarif: sink.write(findings().sarif(by: SectionDump.version).text + "\n")
      case .github: sink.write(findings().annotations)
      case .gitlab: sink.write(findings().codeQuality.text + "\n")
      case .table: write(.table, sink)
      case .json: write(.json, sink)
      case .ndjson: write(.ndjson, sink)
      case .csv: write(.csv, sink)
      }
    }
  }
}
