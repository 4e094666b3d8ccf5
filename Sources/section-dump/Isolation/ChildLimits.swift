internal import BinaryImage
internal import LibC

/// What a child may use for each file that it reads.
enum ChildLimits {
  static let seconds = 10
  /// The seconds, of any clock, after which it ends itself; and after which its parent ends it.
  private static let longest = 3 * seconds
  static let patience = 5 * seconds
  static let memory = 512 << 20
  static let outputSize = 1 << 30
  /// A child that has kept so much memory of the files before reads no more of them.
  private static let mostKept = memory / 8

  #if canImport(Glibc)
    private static let resources = [RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_CORE].map {
      __rlimit_resource_t($0.rawValue)
    }
    private static let processorTime = __itimer_which_t(ITIMER_PROF.rawValue)
  #else
    private static let resources = [RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_CORE]
    private static let processorTime = ITIMER_PROF
  #endif

  /// Limits the memory of this process, and what it writes, for good; never to more than it has.
  static func apply() {
    // The parent may have been started with the signals ignored that end what takes too long.
    for number in [SIGALRM, SIGPROF, SIGXCPU, SIGXFSZ] { signal(number, SIG_DFL) }
    var none = sigset_t()
    // Sound: the set lives for the duration of both calls.
    unsafe sigemptyset(&none)
    unsafe sigprocmask(SIG_SETMASK, &none, nil)
    for (resource, value) in zip(resources, [memory, outputSize, 0]) {
      var limit = rlimit()
      // Sound: the structure lives for the duration of both calls.
      if unsafe getrlimit(resource, &limit) != 0 { limit.rlim_cur = 0 }
      limit.rlim_cur = min(limit.rlim_cur, rlim_t(value))
      unsafe setrlimit(resource, &limit)
    }
  }

  /// Limits the time of the next file, beginning now.
  static func startFile() {
    _ = memoryAtFirst
    setProcessorTime(seconds)
    // A file system that does not answer takes no time of the processor.
    alarm(UInt32(longest))
  }

  /// Ends the time of a file; whether there is memory for one more.
  static func endFile() -> Bool {
    alarm(0)
    setProcessorTime(0)
    guard let memoryAtFirst, let memoryUsed else { return false }
    return memoryUsed - memoryAtFirst <= mostKept
  }

  /// Ends this process by `SIGPROF` once it has taken so many seconds more; 0 for never.
  private static func setProcessorTime(_ seconds: Int) {
    var timer = itimerval()
    timer.it_value.tv_sec = seconds
    // Sound: the structure lives for the duration of the call.
    unsafe setitimer(processorTime, &timer, nil)
  }

  /// What this process had before it read a file.
  private static let memoryAtFirst = memoryUsed

  /// The address space that this process has, in bytes, which is what is limited; nil where the
  /// system does not say.
  private static var memoryUsed: Int? {
    let digits = systemFile("/proc/self/statm").bytes.prefix { $0 != 0x20 }
    return Int(String(decoding: digits, as: UTF8.self)).map {
      $0 * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
  }
}
