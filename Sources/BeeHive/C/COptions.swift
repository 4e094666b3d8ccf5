internal import CBeeHive.Runtime

extension RunOptions {
  /// Copies the options of a C host, also those of an older header. A null pointer means the defaults.
  static func copied(
    _ pointer: UnsafePointer<beehive_options>?, for hive: Hive
  ) throws(Problem) -> (context: Context, run: RunOptions) {
    var options = unsafe beehive_options()
    if let pointer = unsafe pointer {
      let (size, version) = unsafe (pointer.pointee.size, pointer.pointee.version)
      try Problem.check(
        version == UInt32(BEEHIVE_OPTIONS_VERSION) && size >= 8,
        "options of version \(version) and \(size) bytes are unknown here; begin with "
          + "BEEHIVE_OPTIONS")
      unsafe copy(pointer, size: Int(size), to: &options)
    }
    var context = Context(hive: hive)
    if let environment = unsafe options.environment {
      context.environment = unsafe Context.Environment(String(cString: environment))
    }
    let arguments = unsafe try Self.texts(options.arguments, options.argument_count, "arguments")
    if unsafe options.arguments != nil { context.arguments = arguments }
    try Problem.check(unsafe options.flags == 0, "flags are \(unsafe options.flags); write 0")
    context.custom = unsafe UInt(bitPattern: options.custom)
    let disabled = unsafe try Self.texts(
      options.disabled, options.disabled_count, "names in disabled")
    var run = RunOptions(
      launch: LaunchOptions(
        onFailure: unsafe try Self.policy(options.on_failure),
        timeLimit: unsafe try Self.duration(options.time_limit, "time_limit"),
        disabled: Set(disabled)))
    if let limit = unsafe try Self.duration(options.tear_down_limit, "tear_down_limit") {
      run.tearDownLimit = limit
    }
    return (context, run)
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

  /// Returns seconds as a duration; nil for 0.
  private static func duration(_ seconds: Double, _ field: String) throws(Problem) -> Duration? {
    try Problem.check(
      seconds >= 0 && seconds.isFinite, "\(field) is \(seconds); write seconds, or 0")
    // A century is as good as no limit.
    return seconds == 0 ? nil : .seconds(min(seconds, 3e9))
  }
}

extension Report.Line {
  /// Lends the line as a C structure.
  func withCEntry<Result>(
    _ body: (UnsafePointer<beehive_entry>) -> Result
  ) -> Result {
    let texts = CTexts()
    var entry = unsafe beehive_entry()
    unsafe entry.size = UInt32(MemoryLayout<beehive_entry>.size)
    unsafe entry.state = cState
    unsafe entry.kind = texts.copy(kind)
    unsafe entry.name = texts.copy(name)
    unsafe entry.implementation = implementation.map { unsafe texts.copy($0) }
    unsafe entry.source = texts.copy(place)
    unsafe entry.reason = reason.map { unsafe texts.copy($0) }
    unsafe entry.number = number
    return withExtendedLifetime(texts) { unsafe body(&entry) }
  }

  /// The number of the state in C; 2 for rejected.
  private var cState: UInt32 { ["bound": 0, "accepted": 1, "disabled": 3][state] ?? 2 }
}
