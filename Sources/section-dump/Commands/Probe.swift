internal import ArgumentParser
internal import BinaryImage
internal import LibC
internal import PluginFiles
internal import Registration

/// `section-dump probe FILE --host EXECUTABLE`: shows what happens when a host loads a file.
struct Probe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract:
      "Starts a host only to load a plugin, and says what happens. Runs code of both.",
    discussion: """
      This is the only command that runs code: the constructors of the plugin and of the libraries of host and plugin, \
      as the user who runs section-dump. Check the file with doctor first. The host starts with its own loader and \
      libraries, stops where its own code begins, calls dlopen(FILE, RTLD_NOW | RTLD_LOCAL) there, and is ended: its \
      constructors and its main never run. Shows what was printed. Exit status: 0 the plugin was loaded, 1 it was \
      not, 2 the host or the file cannot be read, or this system does not allow tracing.
      """)

  @Argument(help: "The plugin.", completion: .file())
  var path: String

  @Option(
    help: ArgumentHelp("The program that is to load it.", valueName: "executable"),
    completion: .file())
  var host: String

  @Option(help: ArgumentHelp("How long everything may take.", valueName: "seconds"))
  var limit = 10

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, json
  }

  @Option(help: "How to print: for people, or as data.")
  var format = Format.table

  func validate() throws {
    try expect(limit > 0, "--limit must be positive.")
  }

  func run() throws {
    let file = try OpenedFile(path: path)
    _ = try ELFFile(file)
    let program = try OpenedFile(path: host)
    let identity = try ELFFile(program).identity
    try program.check(
      identity.kind == .executable, .unsupported,
      "It is no executable: name the program that opens the plugin.")
    try program.check(
      identity.bits == 64 && identity.machine == ProbedProcess.machine, .unsupported,
      "It is made for \(identity.machine): run the section-dump of that machine, on it.")
    let result = try ProbeResult(of: path.absolute, in: host.resolved, limit: .seconds(limit))
    try OutputOptions.print(isMissing: false, fails: result.outcome != .loaded) { sink in
      sink.write(format == .json ? "\(result.value.text)\n" : "\(result.description)\n")
    }
  }
}

/// The result of loading a file into a host.
struct ProbeResult {
  enum Outcome: String {
    /// `dlopen` has returned a handle.
    case loaded
    /// `dlopen` has refused the file.
    case refused
    /// The file has ended the process with a status.
    case exited
    /// A signal has ended the process.
    case killed
    /// The file has replaced the process by another program.
    case replaced
    /// The time was up.
    case late
    /// The host failed before it could load the file.
    case hostFailed = "host-failed"
  }

  let (path, host): (String, String)
  private(set) var outcome = Outcome.hostFailed
  /// The milliseconds that `dlopen` took, or until the process ended.
  private var milliseconds = 0
  /// The exit status, or the number of the signal.
  private var number: Int?
  /// The text of `dlerror`, or the reason that the host failed.
  private var message: String?
  /// The function that ran when a signal came or the time was up.
  private var place: String?
  /// The other files that were loaded, the files that were opened and not loaded, and the output.
  private var (libraries, opened, printed): ([String], [String], String) = ([], [], "")

  init(of path: String, in host: String, limit: Duration) throws(ImageError) {
    (self.path, self.host) = (path, host)
    var process = try ProbedProcess(host, for: path, limit: limit)
    load(in: &process)
    printed = process.printed
    process.end()
  }

  private mutating func load(in process: inout ProbedProcess) {
    let start = process.start()
    guard start == .returned else {
      message = start.sentence
      place = process.place
      return
    }
    guard let functions = process.addresses(of: ["dlopen", "dlerror", "fflush"]) else {
      message = "no library of it has dlopen that could be called; a static program has its own"
      return
    }
    let own = [path, path.resolved]
    let before = Set(process.mapped.map(\.path))
    let clock = ContinuousClock.now
    let (end, handle) = process.call(functions[0], path, UInt64(RTLD_NOW))
    milliseconds = Int((ContinuousClock.now - clock) / .milliseconds(1))
    take(end, process)
    let after = process.mapped.map(\.path)
    let known = before.union(after)
    opened = process.opened.filter {
      !known.contains($0.resolved) && $0 != "/etc/ld.so.cache" && !own.contains($0)
    }
    var seen = before.union(own)
    libraries = after.filter { seen.insert($0).inserted }
    guard end == .returned else { return }
    outcome = handle == 0 ? .refused : .loaded
    if handle == 0 {
      let (end, text) = process.call(functions[1])
      message = end == .returned ? process.text(at: text) : nil
    }
    // Writes the output that is still in the C library.
    _ = process.call(functions[2])
  }

  /// Sets the outcome from the end of a step.
  private mutating func take(_ end: ProbedProcess.End, _ process: ProbedProcess) {
    switch end {
    case .returned: break
    case .exited(let status): (outcome, number) = (.exited, Int(status))
    case .killed(let signal): (outcome, number, place) = (.killed, Int(signal), process.place)
    case .replaced: outcome = .replaced
    case .late: (outcome, place) = (.late, process.place)
    }
  }
}

extension ProbeResult: CustomStringConvertible {
  /// The result for people.
  var description: String {
    let (file, program) = (path.fileName, host.fileName)
    let inFunction = place.map { ", in \($0)" } ?? ""
    let sentence =
      switch outcome {
      case .loaded: "\(program) loads \(file) in \(milliseconds) ms."
      case .refused: "\(program) does not load \(file): \(message ?? "dlopen does not say why")."
      case .exited: "\(file) ends \(program) with status \(number ?? 0) after \(milliseconds) ms."
      case .killed:
        "\(file) ends \(program) with \(ProbedProcess.title(ofSignal: number ?? 0)) after \(milliseconds) ms\(inFunction)."
      case .replaced: "\(file) has \(program) run another program."
      case .late: "\(file) has not returned to \(program) after \(milliseconds) ms\(inFunction)."
      case .hostFailed:
        "probe loads nothing into \(program)\(inFunction): \(message ?? "")."
      }
    var lines = [sentence]
    for (title, paths) in [("with", libraries), ("opens", opened)] {
      lines += paths.map { "  \(title)  \($0)" }
    }
    lines += printed.split(separator: "\n").map { "  | \($0)" }
    return lines.map(\.escaped).joined(separator: "\n")
  }

  /// The result as a value of JSON.
  var value: JSONValue {
    func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
    return .object([
      ("schema", .integer(1)), ("path", .string(path)), ("host", .string(host)),
      ("outcome", .string(outcome.rawValue)), ("milliseconds", .integer(Int64(milliseconds))),
      ("number", number.map { .integer(Int64($0)) } ?? .null), ("message", text(message)),
      ("place", text(place)), ("libraries", .texts(libraries)), ("opened", .texts(opened)),
      ("printed", .string(printed)),
    ])
  }
}
