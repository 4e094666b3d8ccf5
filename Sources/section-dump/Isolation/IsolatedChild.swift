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

  /// Children that run a program, this one by default, with these arguments, the name of the program left out.
  init(
    program: String = "/proc/self/exe",
    arguments: [[UInt8]] = Array(CommandLine.bytesOfArguments.dropFirst())
  ) {
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
  func read(_ input: Input, style: Style, _ take: (Piece, [UInt8]) -> Void) throws(ImageError) {
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
}
