internal import BinaryImage
internal import LibC

/// A child that is running: the channel it is asked through, and the file that it reports into.
struct ChildProcess {
  /// What came of a request.
  enum Answer {
    /// The report is whole; the child takes more requests unless this was its last.
    case reported(isLast: Bool)
    case ended(ChildEnd)
  }

  /// Holds the report on the last file that was asked for.
  let output: Int32
  /// Whether it has read another file before.
  var hasRead = false
  private let channel: Int32
  private let number: pid_t

  /// Starts `program`, whose name will say which descriptor requests come from.
  init(_ program: String, _ arguments: [[UInt8]], _ name: String) throws(ImageError) {
    func failure(_ number: Int32) -> ImageError {
      ImageError(
        .killed, image: name, message: "No child could be started: \(systemMessage(number)).")
    }
    let output = try AnonymousFile.open(isInherited: false)
    guard let (channel, theirs) = Channel.pair() else {
      let reason = errno
      close(output)
      throw failure(reason)
    }
    defer { close(theirs) }
    let words = [Array("\(ChildServer.prefix)\(theirs)".utf8)] + arguments
    let (number, reason) = Self.spawn(program, words, output: output, channel: theirs)
    guard reason == 0 else {
      close(output)
      close(channel)
      throw failure(reason)
    }
    (self.output, self.channel, self.number) = (output, channel, number)
  }

  /// Has it read one file, and waits until it has or has ended. One that has ended is let go of, and one
  /// that says nothing for longer than it may live, since somebody has stopped it, is ended.
  func read(_ request: Request) -> Answer {
    if Channel.send(message: request.coded ?? [], to: channel),
      let answer = Channel.receive(1, from: channel)
    {
      return .reported(isLast: answer == [ChildServer.last])
    }
    let isSilent = errno == EAGAIN
    if isSilent { kill(number, SIGKILL) }
    var end = stop()
    end.isSilent = isSilent
    return .ended(end)
  }

  /// Waits until it has ended, which it does when nothing more can be asked.
  @discardableResult
  func stop() -> ChildEnd {
    close(channel)
    close(output)
    var status: Int32 = 0
    while unsafe waitpid(number, &status, 0) < 0 {
      guard errno == EINTR else { return ChildEnd(status: nil) }
    }
    return ChildEnd(status: status)
  }

  private static func spawn(
    _ program: String, _ words: [[UInt8]], output: Int32, channel: Int32
  ) -> (number: pid_t, failure: Int32) {
    var actions = unsafe posix_spawn_file_actions_t()
    // Sound: the actions are made, used and given back here; the texts are given back below.
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    // Onto itself: the child alone keeps it open when its program starts.
    unsafe posix_spawn_file_actions_adddup2(&actions, channel, channel)
    var texts = unsafe words.map { unsafe strdup($0.cText) }
    unsafe texts.append(nil)
    defer { unsafe texts.forEach { unsafe free($0) } }
    var environment: UnsafeMutablePointer<CChar>?
    var number: pid_t = 0
    let failure = unsafe posix_spawn(&number, program, &actions, nil, &texts, &environment)
    return (number, failure)
  }
}

/// How a child came to its end.
struct ChildEnd {
  /// What `waitpid` says; nil where it says nothing.
  let status: Int32?
  /// Whether it was ended because it said nothing.
  var isSilent = false

  private var signal: Int32 { (status ?? 0) & 0x7f }

  /// Whether it took longer than it may.
  var isOutOfTime: Bool { isSilent || [SIGPROF, SIGALRM].contains(signal) }

  /// Why a file has no report, as far as the system says.
  func error(_ name: String) -> ImageError {
    let end =
      switch signal {
      case _ where isSilent: "said nothing for \(ChildLimits.patience) seconds"
      case 0 where status == 0: "broke off in the midst of its report"
      case 0: "ended with status \((status ?? 0) >> 8 & 0xff)"
      case SIGPROF, SIGXCPU, SIGALRM:
        "took longer than the \(ChildLimits.seconds) seconds that it may"
      case SIGXFSZ: "wrote more than the \(ChildLimits.outputSize >> 20) MiB that it may"
      default: "was killed by signal \(signal)"
      }
    return ImageError(
      .killed, image: name,
      message: "The child that read it \(end); what the file holds is not known.")
  }
}
