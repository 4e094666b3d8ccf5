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
  /// The pieces that `answer` puts are the report, and what it returns are the sums at its end.
  static func serve(
    _ answer: (Request, _ put: @escaping (Piece, [UInt8]) -> Void) -> [UInt8]?
  ) -> ExitCode? {
    guard let name = CommandLine.arguments.first, name.hasPrefix(prefix),
      let channel = Int32(name.dropFirst(prefix.count))
    else { return nil }
    ChildLimits.apply()
    let sink = ByteSink(descriptor: STDOUT_FILENO)
    func put(_ piece: Piece, _ bytes: [UInt8]) {
      // What it is and how long, then the bytes.
      sink.write(piece.rawValue)
      sink.write(bytes.count.bytes)
      sink.write(bytes)
    }
    while let bytes = Channel.receiveMessage(from: channel) {
      guard let request = try? Request(coded: bytes), ftruncate(STDOUT_FILENO, 0) == 0,
        lseek(STDOUT_FILENO, 0, SEEK_SET) == 0
      else { return ExitCode(2) }
      ChildLimits.startFile()
      guard let sums = answer(request, put) else { return ExitCode(2) }
      put(.sums, sums)
      sink.flush()
      guard sink.failure == 0 else { return ExitCode(2) }
      let hasRoom = ChildLimits.endFile()
      guard Channel.send([hasRoom ? more : last], to: channel), hasRoom else { break }
    }
    return .success
  }
}
