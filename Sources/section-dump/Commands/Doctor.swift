internal import ArgumentParser
internal import BinaryImage
internal import PluginFiles

/// `section-dump doctor FOLDER… --host EXECUTABLE`: shows the plugins that a host would load, and why not the others.
struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Explains which plugins of a folder a host would load, and why not the others.",
    discussion: """
      Checks every plugin and the libraries that come with it as the loader would, and runs nothing: machine, \
      libraries, symbols and their versions, owners and modes, search paths, requirements and cycles. Prints root \
      causes first; other problems name the plugin that caused them. Names the first few other files and why they are \
      not plugins; --format json names all. An entry that would be rejected is only a note, unless --strict is given. \
      Exit status: 0 every plugin would load, 1 a plugin would not, or a folder has files but no plugin, 2 the host, \
      or a folder or file that you named, cannot be read.
      """)

  @Argument(
    help: """
      Folders of plugins, or single files. Of files with the same name, the first admitted one counts; of versions of \
      one plugin, the highest.
      """,
    completion: .directory)
  var paths: [String]

  @Option(
    help: ArgumentHelp(
      "The program that would load the plugins; its libraries are searched for as the loader does.",
      valueName: "executable"), completion: .file())
  var host: String

  @OptionGroup var asked: PolicyOptions

  @Flag(help: "Accept a folder that has files but no plugin.")
  var allowEmpty = false

  @OptionGroup var output: ReportOptions

  func run() throws {
    let host = try output.admissionHost(host)
    var catalogue = PluginCatalogue()
    for path in paths {
      catalogue.sources.append(isDirectory(Array(path.utf8)) ? .directory(path) : .file(path))
    }
    catalogue.refresh()
    let names = Set(paths.map { Array($0.utf8) })
    var admission = Admission(to: host, under: asked.policy)
    var others: [PluginCatalogue.Candidate] = []
    var problems = catalogue.problems
    for candidate in catalogue.candidates {
      if admission.add(candidate) { continue }
      let path = Array(candidate.path.utf8)
      // A named file is expected to be a plugin. An unreadable file may be one.
      if case .failure(let error) = candidate.found,
        names.contains(path) || error.code == .unreadable && !leadsToNoFile(path)
      {
        problems.append(error)
      } else {
        others.append(candidate)
      }
    }
    let report = admission.report()
    let files = allowEmpty ? [] : others.map(\.path)
    let empty = Set(files.map(\.folder)).subtracting(report.plugins.map(\.path.folder)).sorted()
    let lines =
      (problems + host.problems).map(\.description)
      + vain(catalogue.candidates, admission, report)
      + empty.map { "\($0): It has files but no plugin; --allow-empty accepts that." }
    let notPlugins = NotPlugins(others)
    try output.print(
      report.findings + (problems + host.problems).map(Finding.init)
        + notPlugins.findings(failing: empty),
      lines,
      isMissing: !problems.isEmpty || !host.problems.isEmpty
        || catalogue.candidates.contains { $0.isUnread && names.contains(Array($0.path.utf8)) },
      fails: !report.plugins.allSatisfy(\.loads) || !empty.isEmpty
    ) { format, sink in
      report.write(
        others: (notPlugins.lines, notPlugins.json), problems, note: host.lackOfHive, in: format,
        to: sink,
        output.style)
    }
  }

  /// Returns a line for each option that has no effect on any file, such as a mistyped name.
  private func vain(
    _ files: [PluginCatalogue.Candidate], _ admission: Admission, _ report: AdmissionReport
  ) -> [String] {
    let patterns = asked.allow.map { ("--allow", $0) } + asked.deny.map { ("--deny", $0) }
    let lines = patterns.filter { _, pattern in
      !admission.matches(pattern) && !files.contains { $0.path.fileName.isMatched(by: pattern) }
    }.map { option, pattern in "\(option) '\(pattern)': no file matches it" }
    let offers = Set(report.plugins.flatMap(\.offers))
    return lines
      + asked.table.map(\.service).filter { !offers.contains("service \($0)") }
      .map { "--table \($0): no plugin has this service" }
  }
}

extension ReportOptions {
  /// Reads a host. If it cannot be read, prints a finding in the formats of services.
  func admissionHost(_ path: String) throws -> AdmissionHost {
    do throws(ImageError) { return try AdmissionHost(executable: path) } catch {
      guard [.sarif, .github, .gitlab].contains(format) else { throw error }
      try print([Finding(error)], [error.description], isMissing: true, fails: true) { _, _ in }
      throw error
    }
  }
}

extension PluginCatalogue.Candidate {
  /// Whether it could not be read as a plugin.
  fileprivate var isUnread: Bool { if case .failure = found { true } else { false } }
}

extension AdmissionHost {
  /// The message that the host has no Hive, and what to do; nil if it has one.
  var lackOfHive: String? {
    hasHive ? nil : "the host has no Hive; link the host or one of its libraries with libBeeHive.so"
  }
}

/// The demands of a host on plugins.
struct PolicyOptions: ParsableArguments {
  @Flag(
    help: """
      Refuse all that can be refused: code that runs at startup, executable stacks, relocations of code, plugins that \
      do not say which contracts they were built against, entries that would be rejected, libraries that the loader \
      would look for again.
      """)
  var strict = false

  @Flag(help: "Refuse executable stacks, and relocations that write into code.")
  var hardened = false

  @Flag(help: "Admit files and folders that others may write to, or that belong to others.")
  var anyOwner = false

  /// The code that may run when a plugin is loaded.
  enum Startup: String, CaseIterable, ExpressibleByArgument {
    case anything, anchor
  }

  @Option(
    help: "What may run when a plugin is loaded: anything, or only the anchor of its entries.")
  var startup: Startup?

  @Option(
    help: ArgumentHelp(
      "Admit only files of this name, as a shell matches it; may be repeated.", valueName: "glob"))
  var allow: [String] = []

  @Option(
    help: ArgumentHelp(
      "Refuse files of this name, as a shell matches it; may be repeated.", valueName: "glob"))
  var deny: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      The size of the table that the host expects of a service in C, and the version of its BEEHIVE_ABI, if it has \
      one; may be repeated.
      """, valueName: "service=bytes[@version]"), transform: Self.table)
  var table: [PluginPolicy.Table] = []

  /// Reads `Discount=24@2`.
  private static func table(_ argument: String) throws -> PluginPolicy.Table {
    let sign = argument.lastIndex(of: "=") ?? argument.startIndex
    let parts = argument[sign...].dropFirst().split(
      separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard sign > argument.startIndex, let size = Int(parts[0]), size >= 0, parts.last != "" else {
      throw ValidationError("Write a service, its bytes, and perhaps a version: Discount=24@2.")
    }
    let version = parts.count > 1 ? String(parts[1]) : nil
    return PluginPolicy.Table(service: String(argument[..<sign]), size: size, version: version)
  }

  func validate() throws {
    try expect(
      !(allow + deny).contains(""),
      "--allow and --deny take a pattern, not ''; no file has such a name.")
  }

  /// Whether any demand was given.
  var isGiven: Bool {
    strict || hardened || anyOwner || startup != nil || !(allow + deny).isEmpty || !table.isEmpty
  }

  var policy: PluginPolicy {
    var policy = strict ? PluginPolicy.strict : PluginPolicy()
    (policy.allowed, policy.denied) = (allow, deny)
    if hardened { (policy.admitsExecutableStacks, policy.admitsTextRelocations) = (false, false) }
    policy.tables = table
    if anyOwner { policy.checksOwners = false }
    if let startup { policy.startup = startup == .anchor ? .anchor : .anything }
    return policy
  }
}
