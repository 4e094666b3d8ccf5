#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What a child that reads one file may use.
enum ChildLimits {
  static let seconds = 10
  static let memory = 512 << 20
  static let outputSize = 1 << 30

  /// Limits this process, for good; never to more than it has.
  static func apply() {
    #if canImport(Glibc)
      set(__rlimit_resource_t(RLIMIT_CPU.rawValue), seconds)
      set(__rlimit_resource_t(RLIMIT_AS.rawValue), memory)
      set(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), outputSize)
      set(__rlimit_resource_t(RLIMIT_CORE.rawValue), 0)
    #else
      set(RLIMIT_CPU, seconds)
      set(RLIMIT_AS, memory)
      set(RLIMIT_FSIZE, outputSize)
      set(RLIMIT_CORE, 0)
    #endif
    // A file system that does not answer takes no time of the processor.
    alarm(UInt32(3 * seconds))
  }

  #if canImport(Glibc)
    private typealias Resource = __rlimit_resource_t
  #else
    private typealias Resource = Int32
  #endif

  private static func set(_ resource: Resource, _ value: Int) {
    var limit = rlimit()
    // Sound: the structure lives for the duration of both calls.
    guard unsafe getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_cur, rlim_t(value))
    unsafe setrlimit(resource, &limit)
  }
}
