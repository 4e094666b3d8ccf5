internal import BinaryImage

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A child of this process that reads one file, so that no file can take the scan down with it.
///
/// It is this program with the same arguments, but for its own name, which says what it is to read;
/// it has no environment. It writes pieces into a file without a name, which are read once it has
/// come to a good end.
struct IsolatedChild: Sendable {
  private static let prefix = "section-dump child "

  /// What this process is to read, where it is such a child.
  static var request: Request? {
    guard let name = CommandLine.arguments.first, name.hasPrefix(prefix) else { return nil }
    return Request(String(name.dropFirst(prefix.count)))
  }

  /// Which of the arguments a child does without.
  private let superfluous: [Int]

  /// Children of a process whose arguments name these paths.
  init(paths: [String]) {
    superfluous = Self.superfluous(paths)
  }

  /// Has a child read a file, and hands on what it reports.
  func read(
    _ input: Input, style: Style, _ take: (Piece, [UInt8]) -> Void
  ) throws(ImageError) {
    let output = try AnonymousFile.open(isInherited: false)
    defer { close(output) }
    let request = Request(input: input, isColored: style.isColored)
    try run(Self.prefix + request.text, writingTo: output, input.name)
    try Self.readPieces(of: output, input.name, take)
  }

  #if canImport(Darwin)
    private static let program = CommandLine.arguments[0]
  #else
    private static let program = "/proc/self/exe"
  #endif

  /// The positions of paths behind the second, last one first: a child does not read them, but
  /// knows by two that they are several.
  ///
  /// What stands behind an option may be its value, and is left.
  private static func superfluous(_ paths: [String]) -> [Int] {
    let arguments = CommandLine.arguments
    var rest = paths.dropFirst(2)
    return arguments.indices.dropFirst().reversed().filter { index in
      guard arguments[index] == rest.last, !arguments[index - 1].hasPrefix("-") else {
        return false
      }
      rest.removeLast()
      return true
    }
  }

  /// Runs the child to its end.
  private func run(
    _ ownName: String, writingTo output: Int32, _ name: String
  ) throws(ImageError) {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
    #endif
    // Sound: the actions are made, used and given back here; the texts outlive the call.
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var child: pid_t = 0
    var arguments = unsafe Array(
      unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc) + 1))
    for index in superfluous { unsafe arguments.remove(at: index) }
    let failure = unsafe ownName.withCString { name in
      unsafe arguments[0] = UnsafeMutablePointer(mutating: name)
      var environment: UnsafeMutablePointer<CChar>?
      return unsafe posix_spawn(&child, Self.program, &actions, nil, &arguments, &environment)
    }
    guard failure == 0 else {
      throw ImageError(
        .killed, image: name, message: "No child could be started: \(systemMessage(failure)).")
    }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else {
        throw ImageError(
          .killed, image: name, message: "A child was not waited for: \(systemMessage(errno)).")
      }
    }
    guard status == 0 else { throw Self.ending(status, name) }
  }

  /// Why a child that ended badly did so, as far as the system says.
  private static func ending(_ status: Int32, _ name: String) -> ImageError {
    let signal = status & 0x7f
    let end =
      switch signal {
      case 0: "ended with status \(status >> 8 & 0xff)"
      case SIGXCPU, SIGALRM: "took longer than the \(ChildLimits.seconds) seconds that it may"
      case SIGXFSZ: "wrote more than the \(ChildLimits.outputSize >> 20) MiB that it may"
      default: "was killed by signal \(signal)"
      }
    return ImageError(
      .killed, image: name,
      message: "The child that read it \(end); what the file holds is not known.")
  }

  private static func readPieces(
    of descriptor: Int32, _ name: String, _ take: (Piece, [UInt8]) -> Void
  ) throws(ImageError) {
    var position = 0
    var isWhole = false
    while true {
      let head = try read(descriptor, at: position, count: PackedPieces.headSize, name)
      if head.isEmpty, isWhole { return }
      guard let (piece, size) = PackedPieces.head(head[...]), size <= ChildLimits.outputSize else {
        break
      }
      let bytes = try read(descriptor, at: position + head.count, count: size, name)
      guard bytes.count == size else { break }
      position += head.count + size
      isWhole = piece == .sums
      take(piece, bytes)
    }
    throw ImageError(
      .killed, image: name, message: "The child that read it broke off in the midst of its report.")
  }

  /// As many bytes as there are, at most `count`.
  private static func read(
    _ descriptor: Int32, at position: Int, count: Int, _ name: String
  ) throws(ImageError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count, let start = buffer.baseAddress {
        // Sound: the buffer holds `count` bytes, of which `filled` have been written.
        let got = unsafe pread(
          descriptor, start + filled, count - filled, off_t(position + filled))
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = errno }
        if got <= 0 { break }
        filled += got
      }
    }
    guard failure == 0 else {
      throw ImageError(.unreadable, image: name, message: "\(systemMessage(failure)).")
    }
    return bytes
  }
}
