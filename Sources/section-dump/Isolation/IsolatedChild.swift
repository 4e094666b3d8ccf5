internal import BinaryImage
internal import Threads

/// A child of this process that reads files, so that no file can take the scan down with it.
///
/// It is this program with the same arguments, but for its own name, which says where it is asked; it
/// has no environment. It reads one file after another and reports each into a file without a name.
/// One that a file has ended is replaced; each thread that reads has one of its own.
final class IsolatedChild: Sendable {
  private let program: String
  private let arguments: [[UInt8]]
  private let idle = Lock<[ChildProcess]>([])
  private let starts = Lock(0)

  /// Children of a process whose arguments name these paths.
  convenience init(paths: [String]) {
    let program = "/proc/self/exe"
    self.init(program: program, arguments: Self.arguments(for: paths))
  }

  /// Children that run a program with these arguments, the name of the program left out.
  init(program: String, arguments: [[UInt8]]) {
    (self.program, self.arguments) = (program, arguments)
  }

  /// The number of children that were started so far.
  var started: Int { starts.withLock { $0 } }

  deinit {
    for child in idle.withLock({ $0 }) { child.stop() }
  }

  /// Has a child read a file, and hands on what it reports.
  ///
  /// A child that has read others before and ends is no proof against this file: another, of its own,
  /// tries again. Time counts for each file alone, so that running out of it is proof.
  func read(
    _ input: Input, style: Style, _ take: (Piece, [UInt8]) -> Void
  ) throws(ImageError) {
    let request = Request(input: input, isColored: style.isColored)
    var used = idle.withLock { $0.popLast() }
    while true {
      var child = if let used { used } else { try start(for: input.name) }
      switch child.read(request) {
      case .reported(let isLast):
        do throws(ImageError) {
          try ChildReport.read(child.output, input.name, take)
        } catch {
          child.stop()
          throw error
        }
        child.hasRead = true
        if isLast { child.stop() } else { idle.withLock { $0.append(child) } }
        return
      case .ended(let end):
        guard child.hasRead, !end.isOutOfTime else { throw end.error(input.name) }
        used = nil
      }
    }
  }

  /// Starts a child; one after the other, so that none inherits what belongs to another.
  private func start(for name: String) throws(ImageError) -> ChildProcess {
    try starts.withLock { starts throws(ImageError) in
      starts += 1
      return try ChildProcess(program, arguments, name)
    }
  }

  /// The arguments of this process without the paths behind the second: a child does not read them,
  /// but knows by two that they are several.
  ///
  /// What stands behind an option may be its value, and is left.
  private static func arguments(for paths: [String]) -> [[UInt8]] {
    let arguments = CommandLine.arguments
    var rest = paths.dropFirst(2)
    var needed: [[UInt8]] = []
    for index in arguments.indices.dropFirst().reversed() {
      if arguments[index] == rest.last, !arguments[index - 1].hasPrefix("-") {
        rest.removeLast()
        continue
      }
      // Sound: argv holds argc pointers to NUL-terminated texts that live as long as the process.
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { continue }
      needed.append(unsafe UnsafeBufferPointer.bytes(ofText: argument))
    }
    return needed.reversed()
  }
}
