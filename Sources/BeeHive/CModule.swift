internal import CBeeHive
internal import CForeignCalls

/// A module in C: functions of an image, which stays mapped.
///
/// The table of an older header is shorter. The operations past its end are null and are skipped.
struct CModule: Module, @unchecked Sendable {
  // Sound: immutable, and the functions may be called on any thread, as the header says.
  private var operations = beehive_module_operations()

  /// Makes a module that does nothing.
  init() {}

  /// Copies the operations of a table that has passed the rules.
  init(_ table: beehive_module_table) {
    unsafe copy(table.operations, size: table.operations_size, to: &operations)
  }

  func setUp(_ context: Context) throws { unsafe try run(operations.set_up, context) }

  func initialize(_ context: Context) throws { unsafe try run(operations.initialize, context) }

  func splash(_ context: Context) throws { unsafe try run(operations.splash, context) }

  func tearDown(_ context: Context) {
    unsafe context.withCContext { unsafe beehive_call_last_step(operations.tear_down, $0) }
  }

  func unmount(_ context: Context) {
    unsafe context.withCContext { unsafe beehive_call_last_step(operations.unmount, $0) }
  }

  private func run(
    _ operation: (@convention(c) (UnsafePointer<beehive_context>?) -> Bool)?, _ context: Context
  ) throws {
    guard let operation = unsafe operation else { return }
    LastError.forget()
    if unsafe context.withCContext({ unsafe beehive_call_step(operation, $0) }) { return }
    let reason = LastError.text
    throw Problem(.refused, "answered false" + (reason.isEmpty ? "" : ": \(reason)"))
  }

  /// Passes an event to the module: its number, its name, and its payload if that is bytes or text.
  func handle(_ event: Event, _ context: Context) -> EventResponse {
    guard let handle = unsafe operations.event else { return .ignored }
    let payload =
      event.value(as: [UInt8].self) ?? event.value(as: String.self).map { [UInt8]($0.utf8) }
    return unsafe context.withCContext { context in
      unsafe event.name.withCString { name in
        unsafe (payload ?? []).withUnsafeBytes { bytes in
          var told = unsafe beehive_event()
          unsafe told.size = UInt32(MemoryLayout<beehive_event>.size)
          unsafe told.version = UInt32(BEEHIVE_EVENT_VERSION)
          unsafe told.number = Int64(event.number)
          unsafe told.name = unsafe name
          unsafe told.payload = payload == nil ? nil : bytes.baseAddress
          unsafe told.payload_size = bytes.count
          return unsafe beehive_call_event(handle, context, &told) ? .handled : .ignored
        }
      }
    }
  }
}

/// Copies the first `size` bytes of a C structure, which may come from another version of its header. The rest stays as
/// it is.
func copy<Structure>(_ source: UnsafePointer<Structure>?, size: Int, to copy: inout Structure) {
  guard let source = unsafe source else { return }
  // Sound: the author's compiler gave the source this size.
  unsafe withUnsafeMutableBytes(of: &copy) { bytes in
    unsafe bytes.copyMemory(
      from: UnsafeRawBufferPointer(start: source, count: min(size, bytes.count)))
  }
}

extension Context {
  /// Lends the context that C modules and factories get, for the call's duration.
  func withCContext<Result>(_ body: (UnsafePointer<beehive_context>) -> Result) -> Result {
    let texts = CTexts()
    let arguments: [UnsafePointer<CChar>?] = unsafe self.arguments.map { unsafe texts.copy($0) }
    var context = unsafe beehive_context()
    unsafe context.size = UInt32(MemoryLayout<beehive_context>.size)
    unsafe context.version = UInt32(BEEHIVE_CONTEXT_VERSION)
    unsafe context.lead(to: hive)
    unsafe context.custom = UnsafeMutableRawPointer(bitPattern: custom)
    unsafe context.environment = texts.copy(environment.name)
    unsafe context.argument_count = arguments.count
    return unsafe arguments.withUnsafeBufferPointer { arguments in
      unsafe context.arguments = arguments.baseAddress
      return withExtendedLifetime(texts) { unsafe body(&context) }
    }
  }
}

extension beehive_context {
  /// Fills the fields that lead to a Hive. The caller keeps the Hive alive as long as the context is valid.
  mutating func lead(to hive: Hive) {
    unsafe self.hive = unsafe Unmanaged.passUnretained(hive).toOpaque()
    unsafe service = { hive, service, name, size in
      unsafe Self.hive(hive).flatMap { unsafe cService(service, name, size, of: $0) }
    }
    unsafe destroy = { hive, service, name, object in
      unsafe Self.hive(hive).map { unsafe cDestroy(object, service, name, to: $0) } ?? false
    }
    unsafe fail = { _, reason in
      LastError.note(Problem(.refused, unsafe reason.text ?? "it says no reason"))
      return false
    }
  }

  private static func hive(_ pointer: UnsafeMutableRawPointer?) -> Hive? {
    unsafe pointer.map { unsafe Unmanaged<Hive>.fromOpaque($0).takeUnretainedValue() }
  }
}
