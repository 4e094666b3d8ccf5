internal import ArgumentParser
internal import LibC

/// This process, where it is a child that reads files for another.
enum ChildServer {
  /// What its name begins with; the descriptor of its channel follows.
  static let prefix = "section-dump child "
  /// The answer of a child to a request that it has met: it takes more of them, or none.
  static let more: UInt8 = 1
  static let last: UInt8 = 2

  /// Answers request after request, until no more come; nil where this process is no child.
  ///
  /// What `answer` prints on standard output is the report.
  static func serve(_ answer: (Request) -> ExitCode) -> ExitCode? {
    guard let name = CommandLine.arguments.first, name.hasPrefix(prefix),
      let channel = Int32(name.dropFirst(prefix.count))
    else { return nil }
    ChildLimits.apply()
    while let text = Channel.receiveText(from: channel) {
      guard let request = Request(text), ftruncate(STDOUT_FILENO, 0) == 0,
        lseek(STDOUT_FILENO, 0, SEEK_SET) == 0
      else { return ExitCode(2) }
      ChildLimits.startFile()
      let status = answer(request)
      guard status.isSuccess else { return status }
      let hasRoom = ChildLimits.endFile()
      guard Channel.send([hasRoom ? more : last], to: channel), hasRoom else { break }
    }
    return .success
  }
}
