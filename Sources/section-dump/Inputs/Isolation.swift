internal import BinaryImage
internal import FoundationEssentials
internal import LibC

/// The result of reading files, in a form that a child can send.
protocol Reported: Sendable {
  /// Reads what ``pieces`` wrote of a file; nil if they cannot be of it. They may come from a child that a hostile
  /// file has taken over.
  init?(_ pieces: [Piece], of file: Result<Input, ImageError>)
  /// The pieces, with the sums as the last one.
  var pieces: [Piece] { get }
}

extension Reported {
  /// The counts that a child may report of a file; so the sums of all files are numbers too.
  static var counts: Range<Int> { 0..<1 << 32 }
}

extension Encodable {
  /// The value as bytes; nil where no bytes can say it.
  var coded: [UInt8]? { (try? JSONEncoder().encode(self)).map { Array($0) } }
}

extension Decodable {
  /// Reads what ``Encodable/coded`` wrote.
  init(coded bytes: [UInt8]) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(bytes))
  }
}

/// A copy of this process that reads files, so that no file can take the scan down with it.
///
/// It has limits, reads one file after another, and sends the report of each. Where it ends another one goes on: with
/// the next file, or with the same if that may not have been the cause. The process must have one thread.
struct IsolatedChild {
  private let channel: Int32
  private let number: pid_t

  /// Has children read files, and takes what they report of each in order.
  static func read<Part: Reported>(
    _ files: [ReadingThreads<Part>.File], _ read: ReadingThreads<Part>.Read,
    take: @escaping (Part) -> Void
  ) {
    var next = 0
    while next < files.count {
      var end: ChildEnd?
      var isFresh = true
      do throws(ImageError) {
        let child = try IsolatedChild(files[next...], read)
        while next < files.count, let part: Part = child.receive(of: files[next], &end) {
          take(part)
          (next, isFresh) = (next + 1, false)
        }
        end = child.stop(end)
      } catch {
        end = .other("could not be started: \(error.message)")
      }
      // A child that has read others before is no proof against this file, but for what it says and takes of each.
      guard next < files.count, let end, isFresh || end.isOfOneFile else { continue }
      take(read([.failure(end.error(files[next].name))], take))
      next += 1
    }
  }

  /// Starts one that reads these files.
  private init<Part: Reported>(
    _ files: ArraySlice<ReadingThreads<Part>.File>, _ read: ReadingThreads<Part>.Read
  ) throws(ImageError) {
    var ends: [Int32] = [-1, -1]
    #if canImport(Musl)
      let type = SOCK_STREAM
    #else
      let type = Int32(SOCK_STREAM.rawValue)
    #endif
    // Sound: the array has room for both numbers.
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Self.failure(errno) }
    defer { close(ends[1]) }
    var patience = timeval(tv_sec: ChildLimits.patience, tv_usec: 0)
    // Sound: the structure lives for the duration of the call.
    unsafe setsockopt(
      ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    (channel, number) = (ends[0], fork())
    if number == 0 {
      close(channel)
      Self.serve(files, read, ends[1])
    }
    if number < 0 {
      close(channel)
      throw Self.failure(errno)
    }
  }

  private static func failure(_ number: Int32) -> ImageError {
    ImageError(.killed, image: "", message: systemMessage(number))
  }

  /// Reads files in the child, and ends it.
  private static func serve<Part: Reported>(
    _ files: ArraySlice<ReadingThreads<Part>.File>, _ read: ReadingThreads<Part>.Read,
    _ channel: Int32
  ) -> Never {
    ChildLimits.apply()
    let sink = ByteSink(descriptor: channel)
    func send(_ part: Part) {
      // Whoever reads the report may take as long as it likes.
      let left = alarm(0)
      defer { alarm(left) }
      for piece in part.pieces {
        // What it is and how long, then the bytes.
        sink.write(piece.kind.rawValue)
        sink.write((0..<8).map { UInt8(truncatingIfNeeded: piece.bytes.count >> ($0 * 8)) })
        sink.write(piece.bytes)
      }
      sink.flush()
    }
    for file in files {
      ChildLimits.startFile()
      send(read([file], send))
      if sink.failure != 0 { _exit(2) }
    }
    _exit(0)
  }

  /// Returns the next report; nil where it has ended amid one, or where `end` says why it is to end.
  private func receive<Part: Reported>(
    of file: ReadingThreads<Part>.File, _ end: inout ChildEnd?
  ) -> Part? {
    var (pieces, size): ([Piece], Int) = ([], 0)
    while true {
      guard let head = receive(9, &end), let kind = Piece.Kind(rawValue: head[0]) else {
        return nil
      }
      let count = head.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) }
      size &+= count
      guard count >= 0, size <= ChildLimits.memory else {
        end = .other("wrote more than the \(ChildLimits.memory >> 20) MiB that it may")
        return nil
      }
      guard let bytes = receive(count, &end) else { return nil }
      pieces.append(Piece(kind: kind, bytes: bytes))
      guard kind == .sums else { continue }
      let part = Part(pieces, of: file)
      if part == nil { end = .other("sent a report that cannot be of it") }
      return part
    }
  }

  private func receive(_ count: Int, _ end: inout ChildEnd?) -> [UInt8]? {
    // Sound: the pointer covers what is left of the array, for the duration of the call.
    let (bytes, failure) = unsafe [UInt8].reading(count) { rest, _ in
      unsafe recv(channel, rest.baseAddress, rest.count, 0)
    }
    if failure == EAGAIN { end = .other("said nothing for \(ChildLimits.patience) seconds") }
    return bytes.count == count ? bytes : nil
  }

  /// Waits until it has ended, and ends it where it would not; returns why it has.
  private func stop(_ end: ChildEnd?) -> ChildEnd {
    close(channel)
    if end != nil { kill(number, SIGKILL) }
    var status: Int32 = 0
    // Sound: the number lives for the duration of the call.
    while unsafe waitpid(number, &status, 0) < 0, errno == EINTR {}
    return end ?? .status(status)
  }
}

/// The ends of a child.
private enum ChildEnd {
  /// The status from `waitpid`.
  case status(Int32)
  /// The parent ended it, or could not start it; the words say why.
  case other(String)

  /// Whether the file that was read last is the cause, whatever was read before it.
  var isOfOneFile: Bool {
    guard case .status(let status) = self else { return true }
    return [SIGPROF, SIGALRM].contains(status & 0x7f)
  }

  /// Returns the reason that a file has no report, as far as the system says.
  func error(_ name: String) -> ImageError {
    let end =
      switch self {
      case .other(let words): words
      case .status(0): "broke off in the midst of its report"
      case .status(let status) where status & 0x7f == 0: "ended with status \(status >> 8 & 0xff)"
      case .status(let status) where [SIGPROF, SIGXCPU, SIGALRM].contains(status & 0x7f):
        "took longer than the \(ChildLimits.seconds) seconds that it may"
      case .status(let status): "was killed by signal \(status & 0x7f)"
      }
    return ImageError(
      .killed, image: name,
      message: "The child that was to read it \(end); what the file holds is not known.")
  }
}

/// The limits of a child for each file that it reads.
private enum ChildLimits {
  static let seconds = 10
  /// The seconds, of any clock, after which its parent ends it; it ends itself before.
  static let patience = 5 * seconds
  /// In bytes; a report may be as large.
  static let memory = 512 << 20

  #if canImport(Glibc)
    private static let resources = [RLIMIT_AS, RLIMIT_CORE].map {
      __rlimit_resource_t($0.rawValue)
    }
    private static let processorTime = __itimer_which_t(ITIMER_PROF.rawValue)
  #else
    private static let resources = [RLIMIT_AS, RLIMIT_CORE]
    private static let processorTime = ITIMER_PROF
  #endif

  /// Limits the memory of this process for good, never to more than it has, and has it die in silence.
  static func apply() {
    // The parent may have been started with the signals ignored that end what takes too long.
    for number in [SIGALRM, SIGPROF, SIGXCPU, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV, SIGPIPE] {
      signal(number, SIG_DFL)
    }
    var none = sigset_t()
    // Sound: the set lives for the duration of both calls.
    unsafe sigemptyset(&none)
    unsafe sigprocmask(SIG_SETMASK, &none, nil)
    for (resource, value) in zip(resources, [memory, 0]) {
      var limit = rlimit()
      // Sound: the structure lives for the duration of both calls.
      if unsafe getrlimit(resource, &limit) != 0 { limit.rlim_cur = 0 }
      limit.rlim_cur = min(limit.rlim_cur, rlim_t(value))
      unsafe setrlimit(resource, &limit)
    }
    let nowhere = unsafe open("/dev/null", O_WRONLY)
    dup2(nowhere, STDERR_FILENO)
  }

  /// Limits the time of the next file, beginning now.
  static func startFile() {
    var timer = itimerval()
    timer.it_value.tv_sec = seconds
    // Sound: the structure lives for the duration of the call.
    unsafe setitimer(processorTime, &timer, nil)
    // A file system that does not answer takes no time of the processor.
    alarm(UInt32(3 * seconds))
  }
}
