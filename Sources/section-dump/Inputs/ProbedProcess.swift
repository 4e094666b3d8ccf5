internal import BinaryImage
internal import CTrace
internal import LibC
internal import PluginFiles

/// A program that was started to load one file. It stops at its entry point, with its libraries in place, calls
/// `dlopen`, and is ended. Its `main` never runs.
struct ProbedProcess {
  /// The outcome of a step.
  enum End: Equatable {
    /// It has reached its entry point. A called function returns there.
    case returned
    /// It has ended itself with a status.
    case exited(Int32)
    /// A signal has ended it.
    case killed(Int32)
    /// It runs another program now.
    case replaced
    /// It took too long.
    case late
  }

  private let child: pid_t
  /// The address of the program's entry point. Its code never runs.
  private var entry: UInt64 = 0
  private let deadline: ContinuousClock.Instant
  /// A file without a name that takes its output.
  private let output: Int32
  /// The path of the file to load.
  private let subject: String
  /// The path of a file that it is about to open.
  private var opening: String?

  /// The paths of files that the called functions have opened, once each.
  private(set) var opened: [String] = []
  /// The function that ran when the last signal came, or when the time was up.
  private(set) var place: String?

  /// The machine whose programs this one can trace, as images name it; nil if there is none.
  static var machine: String? {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "aarch64"
    #else
      nil
    #endif
  }

  /// Starts a program that is to load a file, and stops it before its first instruction.
  ///
  /// - Throws: ``ImageError`` if the system does not start or trace it.
  init(_ program: String, for subject: String, limit: Duration) throws(ImageError) {
    self.subject = subject
    func failure(_ number: Int32) -> ImageError {
      ImageError(
        .unreadable, image: program,
        message: "It cannot be started and traced: \(systemMessage(number)).")
    }
    guard let file = unsafe tmpfile() else { throw failure(errno) }
    output = unsafe dup(fileno(file))
    unsafe fclose(file)
    deadline = .now + limit
    // `wait` waits for the signal of a child, so it must not be lost.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGCHLD)
    unsafe sigprocmask(SIG_BLOCK, &signals, nil)
    child = fork()
    if child == 0 { Self.become(program, output) }
    guard child > 0 else { throw failure(errno) }
    var status: Int32 = 0
    // Sound: the number lives for the duration of the call.
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard status & 0xff == 0x7f else { throw failure(status >> 8 & 0xff) }
    guard trace_adopt(), trace_begin(child), let entry = Self.entry(of: child),
      trace_break(child, entry)
    else {
      let number = errno
      end()
      throw failure(number)
    }
    self.entry = entry
  }

  /// Runs the program in the child, where it stops at once. If that fails, the status is the error number.
  private static func become(_ program: String, _ output: Int32) -> Never {
    setpgid(0, 0)
    for number in 1..<Int32(32) { signal(number, SIG_DFL) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigprocmask(SIG_SETMASK, &none, nil)
    dup2(unsafe open("/dev/null", O_RDONLY), STDIN_FILENO)
    dup2(output, STDOUT_FILENO)
    dup2(output, STDERR_FILENO)
    close(output)
    guard trace_me() else { _exit(errno) }
    unsafe program.withCString { path in
      var arguments = unsafe [strdup(path), nil]
      unsafe execv(path, &arguments)
    }
    _exit(errno)
  }

  /// Reads the entry point from the auxiliary vector that the kernel gives the program.
  private static func entry(of child: pid_t) -> UInt64? {
    let words = words(in: systemFile("/proc/\(child)/auxv").bytes)
    // AT_ENTRY
    let place = stride(from: 0, to: words.count - 1, by: 2).first { words[$0] == 9 }
    return place.map { words[$0 + 1] }
  }

  /// Returns the words of a process's memory.
  private static func words(in bytes: [UInt8]) -> [UInt64] {
    stride(from: 0, to: bytes.count, by: 8).compactMap {
      bytes.span.word(at: $0, bits: 64, order: .ofThisProcess)
    }
  }

  // MARK: - Steps

  /// Starts its libraries, up to its entry point.
  mutating func start() -> End { go(notingFiles: false) }

  /// Makes it call a function with a text and a number.
  ///
  /// - Returns: The outcome, and the result of the function; 0 if it has not returned.
  mutating func call(
    _ function: UInt64, _ text: String? = nil, _ number: UInt64 = 0
  ) -> (end: End, result: UInt64) {
    let bytes = text.map { Array($0.utf8CString) }
    let isReady =
      if let bytes {
        unsafe bytes.withUnsafeBufferPointer {
          unsafe trace_call(child, function, entry, $0.baseAddress, $0.count, number)
        }
      } else {
        trace_call(child, function, entry, nil, 0, number)
      }
    guard isReady else { return (.late, 0) }
    let end = go(notingFiles: true)
    return (end, end == .returned ? trace_result(child) : 0)
  }

  private mutating func go(notingFiles: Bool) -> End {
    var number: Int32 = 0
    while true {
      _ = trace_go(child, number, notingFiles)
      number = 0
      guard let status = wait(until: deadline) else {
        kill(child, SIGSTOP)
        // A process that waits for a child of `vfork`, or whose first thread has ended, does not stop.
        if wait(until: .now + .seconds(1)) != nil { place = currentPlace() }
        return .late
      }
      if status & 0x7f == 0 { return .exited(status >> 8 & 0xff) }
      if status & 0xff != 0x7f { return .killed(status & 0x7f) }
      switch status >> 8 {
      case SIGTRAP | 0x80: note(trace_system_call(child))
      // PTRACE_EVENT_EXEC
      case SIGTRAP | 4 << 8: return .replaced
      case SIGTRAP where isAtEntry: return .returned
      case let other where other < 0x80:
        number = other
        place = currentPlace()
      default: break
      }
    }
  }

  /// Waits for its next stop or its end and returns the status; nil if the time is up.
  private func wait(until deadline: ContinuousClock.Instant) -> Int32? {
    var status: Int32 = 0
    var signals = sigset_t()
    // Sound: the values live for the duration of each call.
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGCHLD)
    while true {
      if unsafe waitpid(child, &status, WNOHANG) == child { return status }
      let rest = deadline - .now
      guard rest > .zero else { return nil }
      let (seconds, attoseconds) = rest.components
      var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
      unsafe sigtimedwait(&signals, nil, &limit)
    }
  }

  private mutating func note(_ step: trace_step) {
    if step.when == TRACE_ENTRY {
      opening = step.opens ? text(at: step.path) : nil
    } else if let path = opening, step.result >= 0 {
      if !opened.contains(path) { opened.append(path) }
      opening = nil
    }
  }

  /// Ends the process and the processes that it has started. Those that lose their parent become this process's.
  func end() {
    let limit = ContinuousClock.now + .seconds(2)
    while ContinuousClock.now < limit {
      let own = systemFile("/proc/self/task/\(getpid())/children").bytes
      let children = own.split(separator: UInt8(ascii: " "))
      if children.isEmpty { return }
      for process in children.compactMap({ pid_t(String(decoding: $0, as: UTF8.self)) }) {
        kill(process, SIGKILL)
      }
      usleep(1000)
      while waitpid(-1, nil, __WALL | WNOHANG) > 0 {}
    }
  }

  // MARK: - What it has

  /// The first bytes of its output.
  var printed: String {
    String(decoding: readBytes(of: output, at: 0, count: 1 << 16).bytes, as: UTF8.self)
  }

  /// Returns the text at an address of its memory.
  func text(at address: UInt64) -> String? {
    let bytes = memory(at: address)
    return bytes.firstIndex(of: 0).map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  /// Returns the next bytes of its memory.
  private func memory(at address: UInt64) -> [UInt8] {
    let memory = unsafe open("/proc/\(child)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0, let start = Int(exactly: address) else { return [] }
    defer { close(memory) }
    return readBytes(of: memory, at: start, count: 4096).bytes
  }

  /// The parts of files that it has mapped.
  var mapped: [MappedRange] {
    systemFile("/proc/\(child)/maps").bytes.split(separator: UInt8(ascii: "\n"))
      .compactMap { MappedRange($0) }.filter { $0.path.hasPrefix("/") }
  }

  /// Returns the addresses of functions in the first library that defines all of them; nil if none does.
  func addresses(of names: [String]) -> [UInt64]? {
    let starts = mapped.filter { $0.offset == 0 }
    return starts.lazy.compactMap { start -> [UInt64]? in
      var found: [String: UInt64] = [:]
      guard let image = try? ELFFile(OpenedFile(path: start.path)), image.identity.kind == .shared,
        (try? image.forEachLoaderSymbol(where: \.isDefined) { symbol in
          if names.contains(symbol.name) { found[symbol.name] = start.start &+ symbol.value }
          return found.count < names.count
        }) != nil
      else { return nil }
      let addresses = names.compactMap { found[$0] }
      return addresses.count == names.count ? addresses : nil
    }.first
  }

  private var isAtEntry: Bool {
    var (instruction, stack): (UInt64, UInt64) = (0, 0)
    // Sound: both numbers live for the duration of the call.
    guard unsafe trace_place(child, &instruction, &stack) else { return false }
    // On x86_64 it is after the instruction that traps.
    return instruction == entry || instruction == entry + 1
  }

  /// Returns the running function, `check of libshop.so`, with the plugin's function that has most likely called it.
  private func currentPlace() -> String? {
    var (instruction, stack): (UInt64, UInt64) = (0, 0)
    // Sound: both numbers live for the duration of the call.
    guard unsafe trace_place(child, &instruction, &stack) else { return nil }
    let ranges = mapped
    let place = Self.place(of: instruction, in: ranges) ?? "address \(instruction.hexadecimal)"
    let own = ranges.filter { $0.path == subject && $0.isExecutable }
    guard !own.contains(where: { $0.contains(UInt(instruction)) }) else { return place }
    // The plugin's nearest address on the stack is nearly always the caller's.
    let caller = Self.words(in: memory(at: stack)).first { word in
      own.contains { $0.contains(UInt(word)) }
    }
    let name = caller.flatMap { Self.place(of: $0 - 1, in: ranges) }
    return place + (name.map { ", called by \($0)" } ?? "")
  }

  private static func place(of address: UInt64, in ranges: [MappedRange]) -> String? {
    guard let range = ranges.first(where: { $0.contains(UInt(address)) }) else { return nil }
    let start = ranges.first { $0.path == range.path && $0.offset == 0 }?.start ?? range.start
    let offset = address &- start
    let name = range.path.fileName
    return function(at: offset, of: range.path).map { "\($0) of \(name)" }
      ?? "\(name)+\(offset.hexadecimal)"
  }

  /// Returns the function of a file that has an address; nil if no symbol names it.
  private static func function(at address: UInt64, of path: String) -> String? {
    guard let image = try? ELFFile(OpenedFile(path: path)) else { return nil }
    var found: String?
    func look(_ symbol: Symbol) -> Bool {
      if address &- symbol.value < max(symbol.size, 1) { found = symbol.name }
      return found == nil
    }
    try? image.forEachSymbol(where: { $0.isDefined && $0.size > 0 }, look)
    if found == nil {
      try? image.forEachLoaderSymbol(where: { $0.isDefined && $0.size > 0 }, look)
    }
    return found
  }
}

extension ProbedProcess {
  /// `signal 11 (Segmentation fault)`
  static func title(ofSignal number: Int) -> String {
    // Sound: the text lives until this thread's next call.
    let name = unsafe strsignal(Int32(number)).map { unsafe String(cString: $0) }
    return "signal \(number) (\(name ?? "unknown"))"
  }
}

extension ProbedProcess.End {
  /// The outcome as a clause.
  var sentence: String {
    switch self {
    case .returned: "it goes on"
    case .exited(let status): "it ends with status \(status)"
    case .killed(let signal): "\(ProbedProcess.title(ofSignal: Int(signal))) ends it"
    case .replaced: "it runs another program"
    case .late: "the time was up"
    }
  }
}
