public import Foundation
public import Testing

/// The output of a program, and its exit status.
public struct Outcome: Error, CustomStringConvertible, Sendable {
  /// The command line.
  public var command: String
  /// The exit status; the number of the signal, negative, if a signal ended the program.
  public var status: Int32
  /// Standard output.
  public var output: String
  /// Standard error.
  public var errors: String

  /// The lines of standard output, without empty ones.
  public var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// The command line, the status, and all output.
  public var description: String { "\(command): status \(status)\n\(output)\(errors)" }
}

extension Outcome {
  /// Returns the output of a program that had to succeed.
  ///
  /// - Throws: Itself, if its status is not 0.
  @discardableResult
  public func check() throws -> String {
    guard status == 0 else { throw self }
    return output
  }

  /// Expects that the program ended with a status, and printed some texts among others.
  ///
  /// - Parameters:
  ///   - status: The exit status.
  ///   - errors: Texts in standard error.
  ///   - output: Texts in standard output.
  ///   - location: The location of the expectation in the test.
  /// - Returns: The outcome, for further expectations.
  @discardableResult
  public func expect(
    _ status: some BinaryInteger, errors: String..., output: String...,
    at location: SourceLocation = #_sourceLocation
  ) -> Outcome {
    let said =
      "\(command): status \(self.status)\n\(self.output.prefix(4000))\(self.errors.prefix(4000))"
    #expect(self.status == status, "\(said)", sourceLocation: location)
    for (whole, parts) in [(self.errors, errors), (self.output, output)] {
      for part in parts { #expect(whole.contains(part), "\(said)", sourceLocation: location) }
    }
    return self
  }
}

/// Programs that tests run.
public enum Command {
  private static let timeout = URL(fileURLWithPath: Needs.path(of: "timeout") ?? "/usr/bin/timeout")

  /// The environment variables of programs.
  private static let inherited: [String: String] = {
    var variables = ProcessInfo.processInfo.environment
    variables["LC_ALL"] = "C"
    // The driver of Swift 6.3 crashes if the temporary folder has letters outside ASCII.
    if variables["TMPDIR"]?.utf8.contains(where: { $0 >= 0x80 }) == true {
      variables["TMPDIR"] = "/tmp"
    }
    // Compilers keep modules of C in the user's home, if there is one.
    let home = FileManager.default.homeDirectoryForCurrentUser.path
    if variables["CLANG_MODULE_CACHE_PATH"] == nil,
      !FileManager.default.isWritableFile(atPath: home), let folder = try? Folder()
    {
      variables["CLANG_MODULE_CACHE_PATH"] = folder.path
    }
    return variables
  }()

  /// Runs a program to its end. Output goes through files, so no full pipe stops the program.
  ///
  /// The program speaks English, whatever language this process was started in.
  ///
  /// - Parameters:
  ///   - program: A path, or a name that is looked up in `PATH`.
  ///   - arguments: Its arguments.
  ///   - folder: Its working directory; this process' own by default.
  ///   - input: Its standard input; empty by default.
  ///   - environment: Variables that are set in addition to those of this process.
  ///   - limit: The seconds after which a hanging program is ended, with status 124. No test measures speed by it.
  /// - Returns: The output and the exit status, whatever the status is.
  /// - Throws: An error of Foundation if the program cannot be started.
  public static func run(
    _ program: String, _ arguments: [String] = [], in folder: URL? = nil, input: Data? = nil,
    environment: [String: String] = [:], limit: Int = 1200
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = timeout
    process.arguments = ["\(limit)", program] + arguments
    process.currentDirectoryURL = folder
    process.environment = inherited.merging(environment) { $1 }
    let scratch = try Folder()
    defer { scratch.remove() }
    let files = try ["input", "output", "errors"].map { name in
      try scratch.write(name == "input" ? input ?? Data() : Data(), as: name)
    }
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try start(process)
    process.waitUntilExit()
    let texts = try files.dropFirst().map {
      String(decoding: try Data(contentsOf: $0), as: UTF8.self)
    }
    let status = process.terminationStatus
    return Outcome(
      command: ([program] + arguments).joined(separator: " "),
      status: process.terminationReason == .exit ? status : -status,
      output: texts[0], errors: texts[1])
  }

  /// Held while a program starts or a file is written. A program that started meanwhile would inherit the open file,
  /// and strict conditions refuse a file that is open for writing.
  static let starting = NSLock()

  /// Starts a program that receives every signal, though threads of tests may have blocked some.
  public static func start(_ process: Process) throws {
    var (none, mask) = (sigset_t(), sigset_t())
    // Sound: both sets live as long as the calls.
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &mask)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
    try starting.withLock { try process.run() }
  }

  /// Starts a program, runs `body` once the program prints `ready`, and then ends the program.
  ///
  /// - Parameters:
  ///   - program: Its path.
  ///   - arguments: Its arguments.
  ///   - folder: Its working directory.
  ///   - body: Looks at the process. `printed` are the lines that the program printed before `ready`.
  /// - Returns: The result of `body`.
  /// - Throws: The ``Outcome`` of a program that ends before it is ready, or the error of `body`.
  public static func whileRunning<Value>(
    _ program: String, _ arguments: [String], in folder: URL,
    _ body: (_ process: Int32, _ printed: [String]) throws -> Value
  ) throws -> Value {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.currentDirectoryURL = folder
    process.arguments = arguments
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try start(process)
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    var text = Data()
    while text.suffix(6) != Data("ready\n".utf8) {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else {
        process.waitUntilExit()
        throw Outcome(
          command: ([program] + arguments).joined(separator: " "),
          status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
          errors: "It ended before it was ready.")
      }
      text += more
    }
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    return try body(process.processIdentifier, lines.dropLast())
  }

  /// Runs a program that must succeed.
  ///
  /// - Returns: Its standard output.
  /// - Throws: Its ``Outcome`` if its status is not 0.
  @discardableResult
  public static func output(
    _ program: String, _ arguments: [String] = [], in folder: URL? = nil, input: Data? = nil,
    environment: [String: String] = [:], limit: Int = 1200
  ) throws -> String {
    try run(
      program, arguments, in: folder, input: input, environment: environment, limit: limit
    ).check()
  }
}
