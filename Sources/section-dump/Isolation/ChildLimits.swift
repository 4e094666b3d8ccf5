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

  /// Limits the memory of this process, and what it writes, for good; never to more than it has.
  static func apply() {
    // The parent may have been started with the signals ignored that end what takes too long.
    for number in [SIGALRM, SIGXCPU, SIGXFSZ] { signal(number, SIG_DFL) }
    var none = sigset_t()
    // Sound: the set lives for the duration of both calls.
    unsafe sigemptyset(&none)
    unsafe sigprocmask(SIG_SETMASK, &none, nil)
    #if canImport(Glibc)
      lower(Resource(RLIMIT_AS.rawValue), to: memory)
      lower(Resource(RLIMIT_FSIZE.rawValue), to: outputSize)
      lower(Resource(RLIMIT_CORE.rawValue), to: 0)
    #else
      lower(RLIMIT_AS, to: memory)
      lower(RLIMIT_FSIZE, to: outputSize)
      lower(RLIMIT_CORE, to: 0)
    #endif
  }

  /// Limits the time of the next file, beginning now.
  static func startFile() {
    _ = memoryAtFirst
    set(time, to: min(wholeSecondsUsed + secondsAllowed, timeGiven.rlim_max))
    // A file system that does not answer takes no time of the processor.
    alarm(UInt32(longest))
  }

  /// Ends the time of a file; whether there is as much of everything for one more.
  static func endFile() -> Bool {
    alarm(0)
    guard let memoryAtFirst, let memoryUsed else { return false }
    return memoryUsed - memoryAtFirst <= mostKept
      && wholeSecondsUsed + secondsAllowed <= timeGiven.rlim_max
  }

  #if canImport(Glibc)
    private typealias Resource = __rlimit_resource_t
    private static let time = Resource(RLIMIT_CPU.rawValue)
    private static let itself = __rusage_who_t(RUSAGE_SELF.rawValue)
  #else
    private typealias Resource = Int32
    private static let time = RLIMIT_CPU
    private static let itself = RUSAGE_SELF
  #endif

  /// The limits of time that this process was started with.
  private static let timeGiven = limit(time)
  private static let secondsAllowed = min(rlim_t(seconds), timeGiven.rlim_cur)

  private static var usage: rusage {
    var usage = rusage()
    // Sound: the structure lives for the duration of the call, which does not fail.
    unsafe getrusage(itself, &usage)
    return usage
  }

  /// The processor's time that this process has taken, rounded up.
  private static var wholeSecondsUsed: rlim_t {
    let usage = usage
    let parts = Int(usage.ru_utime.tv_usec) + Int(usage.ru_stime.tv_usec)
    return rlim_t(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (parts + 999_999) / 1_000_000)
  }

  /// What this process had before it read a file.
  private static let memoryAtFirst = memoryUsed

  /// The address space that this process has, in bytes, which is what is limited; nil where the
  /// system does not say.
  private static var memoryUsed: Int? {
    let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var digits = [UInt8](repeating: 0, count: 32)
    // Sound: the pointer covers the whole array for the duration of the call.
    guard unsafe read(file, &digits, digits.count) > 0,
      let pages = Int(String(decoding: digits.prefix { $0 != 0x20 }, as: UTF8.self))
    else { return nil }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func lower(_ resource: Resource, to value: Int) {
    set(resource, to: min(limit(resource).rlim_cur, rlim_t(value)))
  }

  private static func limit(_ resource: Resource) -> rlimit {
    var limit = rlimit()
    // Sound: the structure lives for the duration of the call.
    if unsafe getrlimit(resource, &limit) != 0 { limit.rlim_cur = 0 }
    return limit
  }

  private static func set(_ resource: Resource, to value: rlim_t) {
    var limit = limit(resource)
    limit.rlim_cur = value
    // Sound: as above.
    unsafe setrlimit(resource, &limit)
  }
}
