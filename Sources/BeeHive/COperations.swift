internal import BinaryImage
internal import CBeeHive

/// The operations of a C module: functions in an image that is held as long as the module runs.
///
/// A table that an older header wrote is shorter; the operations past its end are not there.
@safe struct COperations: @unchecked Sendable {
  // Sound: the header says that the functions may be called on any thread.
  /// The table, its missing end filled with null.
  private var operations = beehive_module_operations()

  /// Copies the operations that the context of an `abi=c-module` record leads to.
  init(at address: RuntimeAddress, in memory: ForeignMemory) throws(Problem) {
    let table = unsafe try memory.structure(
      .moduleTable, as: beehive_module_table.self, at: address
    ).get()
    guard unsafe table.operations != nil else { return }
    // Sound: the rules found that many bytes there.
    unsafe withUnsafeMutableBytes(of: &operations) { bytes in
      unsafe bytes.copyMemory(
        from: UnsafeRawBufferPointer(
          start: table.operations, count: min(table.operations_size, bytes.count)))
    }
  }

  /// Runs a step; true where the module has no such operation. Null functions are passed over.
  func run(_ step: RunningModule.Step, _ context: Context) -> Bool {
    let operations = self.operations
    return unsafe context.withCContext { context in
      switch step {
      case .setUp: return unsafe operations.set_up?(context) ?? true
      case .initialize: return unsafe operations.initialize?(context) ?? true
      case .splash: return unsafe operations.splash?(context) ?? true
      case .tearDown:
        unsafe operations.tear_down?(context)
        return true
      case .unmount:
        unsafe operations.unmount?(context)
        return true
      }
    }
  }

  /// Tells the module of an event: its number, its name, and its payload if that is bytes or text.
  func handle(_ event: Event, _ context: Context) -> Bool {
    guard let handle = unsafe operations.event else { return false }
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
          return unsafe handle(context, &told)
        }
      }
    }
  }
}

extension Context {
  /// Lends what C modules and factories are told, for the call's duration.
  func withCContext<Result>(_ body: (UnsafePointer<beehive_context>) -> Result) -> Result {
    let texts = CTexts()
    let arguments: [UnsafePointer<CChar>?] = unsafe self.arguments.map { unsafe texts.copy($0) }
    var context = unsafe beehive_context()
    unsafe context.size = UInt32(MemoryLayout<beehive_context>.size)
    unsafe context.version = UInt32(BEEHIVE_CONTEXT_VERSION)
    unsafe context.lead(to: hive)
    unsafe context.custom = UnsafeMutableRawPointer(bitPattern: self[CCustom.self])
    unsafe context.environment = texts.copy(environment.name)
    unsafe context.argument_count = arguments.count
    return unsafe arguments.withUnsafeBufferPointer { arguments in
      unsafe context.arguments = arguments.baseAddress
      return withExtendedLifetime(texts) { unsafe body(&context) }
    }
  }
}

extension beehive_context {
  /// Fills what leads back to a Hive, which the caller keeps alive as long as the context is valid.
  mutating func lead(to hive: Hive) {
    unsafe self.hive = unsafe Unmanaged.passUnretained(hive).toOpaque()
    unsafe service = { hive, service, name, size in
      unsafe Self.hive(hive).flatMap { unsafe cService(service, name, size, of: $0) }
    }
    unsafe destroy = { hive, service, name, object in
      unsafe Self.hive(hive).map { unsafe cDestroy(object, service, name, to: $0) } ?? false
    }
  }

  private static func hive(_ pointer: UnsafeMutableRawPointer?) -> Hive? {
    unsafe pointer.map { unsafe Unmanaged<Hive>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// The address that modules and factories in C find in `context->custom`.
enum CCustom: Context.Key { static let defaultValue: UInt = 0 }
