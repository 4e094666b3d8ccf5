internal import CBeeHive.Runtime

/// What a host in C says of a start: `beehive_options`, copied.
struct COptions: Sendable {
  /// What modules are told.
  let context: Context
  /// How they are started.
  let launch: LaunchOptions
  /// How a run ends.
  var run: RunOptions { RunOptions(launch: launch, tearDownLimit: tearDownLimit) }
  private let tearDownLimit: Duration?

  /// Copies options, of an older header too; the usual ones without any.
  init(_ pointer: UnsafePointer<beehive_options>?, for hive: Hive) throws(Problem) {
    let options = unsafe try Self.copy(pointer)
    var context = Context(hive: hive)
    if let environment = unsafe options.environment {
      context.environment = unsafe Context.Environment(String(cString: environment))
    }
    let arguments = unsafe try Self.texts(options.arguments, options.argument_count, "arguments")
    if unsafe options.arguments != nil { context.arguments = arguments }
    try Problem.check(unsafe options.flags == 0, "flags are \(unsafe options.flags); write 0")
    context[CCustom.self] = unsafe UInt(bitPattern: options.custom)
    self.context = context
    launch = LaunchOptions(
      onFailure: unsafe try Self.policy(options.on_failure),
      timeLimit: unsafe try Self.duration(options.time_limit, "time_limit"),
      disabled: unsafe Set(
        try Self.texts(options.disabled, options.disabled_count, "names in disabled")))
    tearDownLimit =
      unsafe try Self.duration(options.tear_down_limit, "tear_down_limit")
      ?? RunOptions().tearDownLimit
  }

  /// The options, what an older header does not have as zeros.
  private static func copy(
    _ pointer: UnsafePointer<beehive_options>?
  ) throws(Problem) -> beehive_options {
    var options = unsafe beehive_options()
    guard let pointer = unsafe pointer else { return unsafe options }
    let (size, version) = unsafe (pointer.pointee.size, pointer.pointee.version)
    try Problem.check(
      version == UInt32(BEEHIVE_OPTIONS_VERSION) && size >= 8,
      "options of version \(version) and \(size) bytes are unknown here; begin with BEEHIVE_OPTIONS"
    )
    // Sound: the host's compiler gave them this size.
    unsafe withUnsafeMutableBytes(of: &options) { bytes in
      unsafe bytes.copyMemory(
        from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), bytes.count)))
    }
    return unsafe options
  }

  private static func texts(
    _ texts: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ field: String
  ) throws(Problem) -> [String] {
    guard let texts = unsafe texts, (0...1 << 20).contains(count) else {
      if count == 0 { return [] }
      throw Problem(.badCall, "\(count) \(field) cannot be; correct the pointer or the count")
    }
    return (0..<count).map { unsafe texts[$0].text ?? "" }
  }

  private static func policy(_ number: UInt32) throws(Problem) -> FailurePolicy {
    switch Int(number) {
    case Int(BEEHIVE_ON_FAILURE_STOP): return .stop
    case Int(BEEHIVE_ON_FAILURE_SKIP): return .skip
    case Int(BEEHIVE_ON_FAILURE_CONTINUE): return .continue
    default: throw Problem(.badCall, "on_failure is \(number); write one of BEEHIVE_ON_FAILURE_…")
    }
  }

  /// Seconds; nil for 0.
  private static func duration(_ seconds: Double, _ field: String) throws(Problem) -> Duration? {
    try Problem.check(
      seconds >= 0 && seconds.isFinite, "\(field) is \(seconds); write seconds, or 0")
    // A century is no limit either.
    return seconds == 0 ? nil : .seconds(min(seconds, 3e9))
  }
}
