internal import BinaryImage
internal import FoundationEssentials
internal import LibC

/// The results of some files, in a form that a child can send.
protocol Reported: Codable, Sendable {
  /// Returns whether these can be results of the file: a hostile file may have taken over the child.
  func isSensible(of file: Input) -> Bool
}

extension Reported {
  /// The counts that a child may report for a file. The limit keeps the sums of all files from overflowing.
  static var possible: Range<Int> { 0..<1 << 32 }
}

/// A part of a report: output, and in the last part also the results of the files.
typealias ReportPart<Sums: Reported> = (pieces: [Piece], sums: Sums?)

extension Encodable {
  /// The value as bytes; nil if it cannot be encoded.
  var coded: [UInt8]? { (try? JSONEncoder().encode(self)).map { Array($0) } }
}

extension Decodable {
  /// Reads what ``Encodable/coded`` wrote.
  init(coded bytes: [UInt8]) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(bytes))
  }
}

/// A copy of this process that reads files, so that no file can end the whole scan.
///
/// It has limits, reads one file after another, and sends the report of each. If it ends, another child goes on. The
/// process must have only one thread.
struct IsolatedChild<Sums: Reported> {
  typealias Part = ReportPart<Sums>

  /// The seconds that a file may take.
  private let seconds = 30
  /// The limit of memory, and of a report, in bytes.
  private let memory = 512 << 20

  let read: ReadingThreads<Sums>.Read

  /// Reads the files in children, and hands over the report of each file in order.
  func read(_ files: [Input], take: @escaping (Part) -> Void) {
    var rest = files[...]
    while let file = rest.first {
      let count = rest.count
      do throws(ImageError) {
        try readSome(of: &rest, take)
      } catch {
        // If the child has read other files, this file need not be the cause: a new child tries it.
        guard rest.count == count else { continue }
        let reason = ImageError(
          .killed, image: file.name,
          message:
            "The child that was to read it \(error.message); what the file holds is not known.")
        take(read([Input(reason)], take))
        rest.removeFirst()
      }
    }
  }

  /// Reads files in one child until all are read or the child ends. Throws the reason that it ended.
  private func readSome(
    of files: inout ArraySlice<Input>, _ take: (Part) -> Void
  ) throws(ImageError) {
    var ends: [Int32] = [-1, -1]
    // Sound: the array has room for both numbers.
    let child = unsafe pipe(&ends) == 0 ? fork() : -1
    let failure = errno
    if child == 0 { serve(files, to: ends[1]) }
    close(ends[1])
    defer { close(ends[0]) }
    guard child > 0 else { throw ended("could not be started: \(systemMessage(failure))") }
    let received = Result { () throws(ImageError) in
      while let file = files.first, let part = try receive(of: file, from: ends[0]) {
        take(part)
        files.removeFirst()
      }
    }
    // Nothing more is read from the child. If it has ended already, it keeps its status.
    kill(child, SIGKILL)
    var status: Int32 = 0
    // Sound: the number lives for the duration of the call.
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    try received.get()
    if files.isEmpty { return }
    switch status & 0x7f {
    case 0 where status == 0: throw ended("sent a report that cannot be of it")
    case 0: throw ended("ended with status \(status >> 8 & 0xff)")
    case SIGXCPU, SIGALRM:
      throw ended("took longer than the \(seconds) seconds that it may")
    case let signal: throw ended("was killed by signal \(signal)")
    }
  }

  private func ended(_ words: String) -> ImageError {
    ImageError(.killed, image: "", message: words)
  }

  // MARK: - In the child

  /// Reads the files and sends the report of each. A piece of it is a number (output 0, errors 1, sums 2), its length,
  /// and its bytes.
  private func serve(_ files: ArraySlice<Input>, to descriptor: Int32) -> Never {
    limit()
    let sink = ByteSink(descriptor: descriptor)
    func send(_ kind: UInt8, _ bytes: [UInt8]) {
      sink.write(kind)
      sink.write((0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) })
      sink.write(bytes)
    }
    func send(_ part: Part) {
      // The reader of the report may take any time.
      let left = alarm(0)
      for piece in part.pieces { send(piece.isError ? 1 : 0, piece.bytes) }
      if let sums = part.sums?.coded { send(2, sums) }
      sink.flush()
      alarm(left)
    }
    for file in files {
      alarm(UInt32(seconds))
      send(read([file], send))
      if sink.failure != 0 { _exit(2) }
    }
    _exit(0)
  }

  /// Limits the memory of this process without raising its limit, and lets it die silently.
  private func limit() {
    // The parent may have been started with some of these signals ignored.
    for number in [SIGALRM, SIGXCPU, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV, SIGPIPE] {
      signal(number, SIG_DFL)
    }
    var none = sigset_t()
    // Sound: the set lives for the duration of both calls.
    unsafe sigemptyset(&none)
    unsafe sigprocmask(SIG_SETMASK, &none, nil)
    #if canImport(Glibc)
      let resources = [RLIMIT_AS, RLIMIT_CORE].map { __rlimit_resource_t($0.rawValue) }
    #else
      let resources = [RLIMIT_AS, RLIMIT_CORE]
    #endif
    for (resource, value) in zip(resources, [memory, 0]) {
      var limit = rlimit()
      // Sound: the structure lives for the duration of both calls.
      if unsafe getrlimit(resource, &limit) != 0 { limit.rlim_cur = 0 }
      limit.rlim_cur = min(limit.rlim_cur, rlim_t(value))
      unsafe setrlimit(resource, &limit)
    }
    dup2(unsafe open("/dev/null", O_WRONLY), STDERR_FILENO)
  }

  // MARK: - In the parent

  /// Returns the report of a file; nil if the child ends too early, or if the report cannot be of this file.
  private func receive(of file: Input, from descriptor: Int32) throws(ImageError) -> Part? {
    // The seconds until a silent child is ended. It should end itself before.
    let patience = seconds + 20
    var part: Part = ([], nil)
    var room = memory
    func take(_ count: Int) throws(ImageError) -> [UInt8]? {
      guard 0...room ~= count else {
        throw ended("wrote more than the \(memory >> 20) MiB that it may")
      }
      room -= count
      var isLate = false
      // Sound: the structure lives for the duration of the call, and the pointer covers what is left of the array.
      let (bytes, _) = unsafe [UInt8].reading(count) { rest, _ in
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        isLate = unsafe poll(&watched, 1, Int32(patience * 1000)) == 0
        return unsafe isLate ? 0 : LibC.read(descriptor, rest.baseAddress, rest.count)
      }
      if isLate { throw ended("said nothing for \(patience) seconds") }
      return bytes.count == count ? bytes : nil
    }
    while let head = try take(9),
      let bytes = try take(head.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) })
    {
      if head[0] == 2 {
        part.sums = try? Sums(coded: bytes)
        return part.sums?.isSensible(of: file) == true ? part : nil
      }
      guard head[0] < 2 else { return nil }
      part.pieces.append((isError: head[0] == 1, bytes: bytes))
    }
    return nil
  }
}
